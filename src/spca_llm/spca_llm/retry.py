"""Which failures are worth a retry, and how long to wait before it."""

from __future__ import annotations

import math
import random
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime

import httpx2
import openai
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from spca_llm.config import ModelConfig

_TRANSIENT = (408, 409, 425, 429)
_SPENT = ("insufficient_quota", "billing_hard_limit_reached")


def retrying(config: ModelConfig, seconds: float | None) -> Retrying:
    """Retry as the role allows, within `seconds` of wall time; raise the last failure unchanged."""
    stop = stop_after_attempt(config.attempts)
    return Retrying(
        retry=retry_if_exception(lambda error: worth_retrying(error, config.max_wait_s)),
        wait=lambda state: _wait(state, config),
        stop=stop if seconds is None else stop | stop_before_delay(seconds),
        reraise=True,
    )


def worth_retrying(error: BaseException, max_wait_s: float) -> bool:
    """Whether the same request may succeed a little later."""
    if isinstance(error, (openai.APIConnectionError, httpx2.TransportError)):
        return True
    if not isinstance(error, openai.APIStatusError) or error.code in _SPENT:
        return False
    transient = error.status_code >= 500 or error.status_code in _TRANSIENT
    return transient and (retry_after(error) or 0.0) <= max_wait_s


def retry_after(error: BaseException | None) -> float | None:
    """The seconds that the server asks to wait, from its `Retry-After` (seconds or a date), or None."""
    if not isinstance(error, openai.APIStatusError):
        return None
    text = error.response.headers.get("retry-after", "")
    with suppress(ValueError):
        seconds = float(text)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    with suppress(TypeError, ValueError, OverflowError, OSError):  # dates that no clock can show
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    return None


def _wait(state: RetryCallState, config: ModelConfig) -> float:
    error = state.outcome.exception() if state.outcome else None
    backoff = config.wait_s * 2 ** (state.attempt_number - 1) * random.uniform(0.75, 1.25)
    return min(max(backoff, retry_after(error) or 0.0), config.max_wait_s)
