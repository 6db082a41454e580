"""Sense: from RGB-D frames to a typed scene. It knows object classes but no ground-truth poses."""
