"""The words of task texts: each is reduced to a token.

A pattern is a regular expression in which a space stands for any white space. Where several match, the
longest wins; of equally long ones, the first. FILLER is dropped: politeness, and what is
true of every task anyway. Whatever else is said must be heeded by a rule of the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from spca_core.kinds import KINDS, SOLIDS, SUPPORTS
from spca_core.relation import relations

COLOURS = (
    "red", "green", "blue", "yellow", "orange", "purple", "violet", "pink", "black", "white", "grey", "gray",
    "brown", "cyan", "magenta", "turquoise",
)  # fmt: skip
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = {word: n for n, word in enumerate(("first", "second", "third", "fourth", "fifth"), 1)}
SPELT = {word: n for n, word in enumerate(_COUNTED, 2)}
NUMBERS = SPELT | {str(n): n for n in range(2, 13)}
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SPELT |= {f"{ten}-{one}": 10 * t + n for t, ten in enumerate(_TENS, 2) for one, n in SPELT.items() if n < 10}
SPELT |= {ten: 10 * t for t, ten in enumerate(_TENS, 2)} | {"one": 1, "fifteen": 15}

_MUST = (
    "must|(?:must|should) to|should|shall|(?:has|have|needs?|ought|wants?|would like|is supposed) to|will|"
    "(?:is|are) to(?! the (?:left|right))"
)
_ROBOT = (
    "(?:the |your |its )?(?:robot's base|robot base|base of the robot|robot arm|robot|"
    "cobot|arm|gripper|base|you)"
)
_HAND = (
    "(?:the |your |its |a )?(?:robot's gripper|gripper|robot arm|robot|arm|fingers|"
    "fingertips|hand|end effector|tool)"
)
_COLOUR = "colou?rs?"
_VERB = (
    r"(?:touch|tap|pick|lift|grasp|grab|take|put|place|move|stack|build|throw|leave|set|lay|swap|turn|make|"
    r"drop)\b"
)
_NOUN_FOLLOWS = r"(?= (?:the|an?|all|every|each)\b)"
_WANT = (
    "(?:i|we|id)(?:'d| would)?(?: really| just)? "
    "(?:want|wanna|like|love|need|wish|prefer|hope|was (?:thinking|wondering|hoping))"
)
_FINE = "(?:good|great|nice|lovely|perfect|wonderful|best|cool|fine|all)"
_NUMBER = "|".join(NUMBERS)
_LOW = "(?:bottom|base)"
_ALONE = r"(?:exactly )?(?:(?:where|as|like) (?:it|they) (?:is|are|stands?|lies?)|alone|untouched|in place)"
_SET = "(?:stand|sit|rest|lie|land)"  # as an order, before a thing
_DONE = "placed|moved|stacked|brought|laid|carried|transferred|arranged"
_IRREGULAR = {"die": "dice"}

_CALLED = {noun: tuple(k.name for k in KINDS.values() if noun in k.nouns)
           for kind in KINDS.values() for noun in kind.nouns}  # fmt: skip
SHARED = {noun: kinds for noun, kinds in _CALLED.items() if len(kinds) > 1}
"""The kinds that a noun of several may mean: whichever is there, and can be where it is said."""


def _nouns() -> dict[str, tuple[str, ...]]:
    """Singular and plural of every kind's own nouns, and of each that several kinds share."""
    found = {name: [n for n in KINDS[name].nouns if n not in SHARED] for name in (*SOLIDS, *SUPPORTS)}
    found |= {noun: [noun] for noun in SHARED}
    tokens: dict[str, tuple[str, ...]] = {}
    for name, nouns in found.items():
        tokens[name.upper()] = ("|".join(nouns),)
        more = [_IRREGULAR.get(n, n + ("es" if n.endswith(("sh", "x")) else "s")) for n in nouns]
        tokens[f"{name.upper()}S"] = ("|".join(more),)
    return tokens


_PLAIN = (
    "before", "round", "give", "fill", "away", "pick", "clear", "empty", "ones", "pyramid", "where",
    "smaller", "either", "all", "everything", "but", "or", "neither", "nor", "nothing", "both", "up",
    "respectively",
)  # fmt: skip
"""Words that are tokens of their own."""
_PATTERNS: dict[str, tuple[str, ...]] = {
    "FILLER": (
        # politeness, the sounds of speech, and what is true of every motion
        "please|kindly|now|carefully|gently|softly|lightly|safely|neatly|firmly|nicely|properly|hey|hi|robot",
        "yeah|yes|sure|well|basically|ok|okay|alright|right ?,|maybe|perhaps|possibly|oh|nah",
        "actually|right now|already|instead|anymore|for a (?:moment|while)|a (?:little )?bit|excuse me",
        r"together(?= (?:on|in)(?:to)?\b)|straight(?= (?:on|in)(?:to)?\b)|ever(?= \w+ing\b)|would you mind",
        r"(?:right )?up(?= (?:beside|next to|on|onto|to)\b)|like a bridge|would it be possible(?: to)?",
        rf"(?:about|around|roughly|approximately|at least)(?= (?:\d|one\b|{'|'.join(_COUNTED)}))",
        "also|too|as well|itself|themselves|fully|completely|currently|for me|hello|hey there|hello there",
        "go ahead and|good (?:morning|day|evening)|do me a favou?r and|feel free to|(?:what|how) about",
        "you know(?: what)?|(?:i (?:think|guess|believe)|i'm afraid)(?: that)?|pretty(?= please)",
        "(?:thanks|thank you)(?: (?:so|very) much| a lot)?|(?:that is|thats) (?:it|all)(?= ?(?:[.,;!]|$))",
        rf"(?:just|simply|like|really|to|go and|you)(?= {_VERB})|why don't you|you(?= do(?:n't| not)\b)",
        r"(the|an?|on|in|to|and|it|is|big)(?= \1\b)|in turn|one (?:\w+ )?at a time|it is necessary to",
        r"back(?= (?:down )?(?:on|in)(?:to)?\b)|once(?= ?(?:[.,;!]|$))|one (?:by one|after the other)",
        r"(?:exactly|precisely|directly|right)(?= (?:half\w*|midway|in the middle|between|behind|to the)\b)",
        r"(?:tall|high|big|huge|nice|little|new|whole)(?= (?:tower|stack|pile|bridge|pyramid)s?\b)",
        "(?:(?:one|the) (?:more|next) (?:thing|task|job)|next (?:task|job)) ?:|would you ?(?=[.?!]|$)",
        f"(?:that|it)(?: would|'d) (?:be|look) {_FINE}(?= ?(?:[.;!]|$))",
        f"it(?: would|'d) (?:be|look) {_FINE}(?: if(?: you(?: could| would)?)?| to (?:have|see))?",
        "(?:can|[cw]ould|will|may) you(?: please)?(?: be (?:so kind|so good|kind enough)(?: as)?)?(?: to)?",
        r"(?<!\w\s)(?:can|could|may)(?= (?:the|that|this)\b)|like(?= (?:the|in|on)\b)",
        "you(?:'re| are|re)?(?: (?:must|should|have to|need to|can|could|going to|gonna|want to))+|try to",
        "be careful(?: to| and)?|let'?s(?: start| begin)?|let us|(?:can|could|may) (?:we|i) (?:have|get|see)",
        f"what {_WANT}(?: is)?(?: that{_NOUN_FOLLOWS})?",
        f"{_WANT}(?: it)?(?: if)?(?: maybe| perhaps)?(?: you)?(?: could| can| would)?(?: to)?(?: have| see)?"
        f"(?: that{_NOUN_FOLLOWS})?",
        "if (?:you (?:don't mind|would|could|can|please|like|want)|(?:it is |that is )?possible)"
        rf"(?= ?,| (?:please\b|{_VERB}))|when you (?:can|are ready|have (?:time|a (?:moment|minute)))",
        "(?:your|the|my) (?:task|goal|job|aim|mission) is(?: to| that)?|(?:task|goal|job|mission|instruction|"
        "requirement|constraint|objective|command|note|rule) ?:",
        "(?:the )?(?:final|end|target|desired) (?:configuration|state|arrangement|result) (?:must be|is)",
        "(?:(?:execute|do|perform|carry out) )?(?:the following|these)(?: steps| tasks| actions)?(?= ?:)",
        f"(?:the )?(?:robot arm|robot|cobot|arm|gripper) (?:{_MUST}|can)|(?:let|have|make) "
        "the (?:robot|arm)|robot ?,",
        "make sure(?: that)?|ensure(?: that)?|see to it that|take care that|be sure to",
        f"(?:make(?: it)?(?: so)?|see) that{_NOUN_FOLLOWS}",
        f"(?:use|using) {_HAND}(?: to| and)?|(?:with|by|using) {_HAND}|with the tip of {_HAND}",
        # choices left open, and how places are meant
        "(?:it does(?: not|n't) matter|i do(?: not|n'?t) care) which(?: one| cube)?|no matter which(?: one)?",
        "whichever(?: one)?(?: you (?:like|want|prefer)| is (?:the )?(?:easiest|best))",
        "of your (?:own )?choice|(?:that )?you (?:like|want|prefer|choose)|until i say so|on the spot ?,?",
        "(?:which (?:ones?|of them)|what) (?:you (?:select|choose|take) )?is up to you|you can choose",
        "seen from (?:above|the camera|the robot|you)|(?:at|in) the end(?= ?(?:[.,;!]|$))",
    ),
    **{word.upper(): (word,) for word in _PLAIN},
    # --- in which order
    "FIRST": (r"first(?: of all)?(?! (?:\w+ )?\w+ from the (?:left|right|front|back))|firstly",),
    "AFTER": ("(?:after|once)(?: (?:you(?:'ve| have)|having))?|when you(?:'ve| have)",),
    "IN_ORDER": ("in (?:this|that|the|the following|the given|exactly this) order(?: of)?",),
    "AT_ONCE": ("at the same time|simultaneously|at once",),
    # --- doing
    "TOUCH": (r"(?<=(?:after|efore)\s)touching|(?<=have\s)touched",
        "touch|tap|poke|press|feel|contact|(?:make|establish|come into|get in|be in) contact with",
        f"(?:bring|move|get|put|place|lower|lay|rest) {_HAND} (?:(?:in|into) contact with|(?:to|onto) touch|"
        "(?:to|onto|on|on top of)(?: and touch)?)",
        f"(?:(?:let|have|make) )?{_HAND} (?:touch(?:es)?|(?:{_MUST}) touch|is touching|"
        f"(?:is|(?:{_MUST}) be) in contact with)",),
    "TOUCHES": ("touches|contacts|(?:is|are|be) in contact(?: with)?|(?:is|are|be) touching",),
    "LIFT": ("pick(?:ing)? up|lifting|lift up|lift|grasp|grab|grip|seize|raise|hold|hold up|fetch",
        "(?:take|get|grab) hold of|keep hold of|keep holding|catch",),
    "LIFTED": ("lifted|picked up|grasped|grabbed|held|gripped|raised|in (?:the|your) (?:gripper|hand)",),
    "TAKE": (f"take|get(?! (?:{_DONE}))",), "CONTAIN": (f"contains?|receives?|gets(?! (?:{_DONE}))",),
    "CHOOSE": (
        "choose|select|pick out|find|locate|identify|look for|go to|move to|approach|drive to|reach for",),
    "PUT": (
        "put|place|set|lay|move|move over|bring|carry|transfer|deposit|position|relocate|transport|deliver",
        "stick|pop|shift|arrange|lean|balance|lower|pack|insert|gather(?: up)?|slide|add|collect|drag",
        r"(?<=have\s)(?:placed|moved)|displace|tidy up|putting|placing|moving|lay down|set down|put down",
        "pick (?:up )?and (?:place|put)",
        rf"(?<!\w\s)(?<!,\s){_SET}|{_SET}(?= (?:the|an?|it|them|every|each|any|one|{'|'.join(COLOURS)})\b)",),
    "PLACED": (_DONE,),
    "STACK": ("(?:stack|pile)(?: up)?|stacking|piling",),
    "BUILD": ("(?:build|make|create|construct|assemble|erect|form|do(?= an? ))(?: me| us)?|let|have",),
    "THROW": ("push|shove|knock|sweep|tip|drop",), "TOSS": ("throw|toss|fling|chuck",),
    "REMOVE": ("remove|unload",), "FREE": ("free|vacant|unoccupied",), "TOUCHED": ("touched",),
    "UNSTACK": ("unstack|take apart|dismantle|take down",),
    "RELEASE": ("let (?:it |them )?go(?: of)?|release|open the gripper|let loose|retreat|withdraw|move off",),
    "SHUFFLE": ("shuffle|mix up|permute|rearrange",),
    "SWAP": ("swap|exchange|interchange|switch|(?:change|trade|swap|switch) (?:places|positions)",
        "(?:swap|exchange|interchange|switch|trade) (?:the )?(?:places?|positions?|locations?) of",),
    "LINE_UP": ("line up|line|align",),
    "LEFT_ALONE": (f"(?:left|stays?|remains?) {_ALONE}",
        r"(?:(?:can|may|should|must) )?(?:stays?|remains?)(?: (?:put|there))?(?= ?(?:[.,;!]|$|and\b|but\b))",
    ),
    "NEEDED": ("needed|used|wanted|involved",), "LEAVE": ("leave|keep",),
    "SORT": ("sort|match up|match|assign",),
    "SPACING": (r"(?:,? ?(?:by|at|with) (?:a (?:distance|gap) of )?(?:about )?)?\d+(?:\.\d+)? ?"
        "(?:cm|mm|centimet(?:er|re)s?|millimet(?:er|re)s?|inch(?:es)?)",),
    "HIT": ("hit|hitting|bump into|bumping into|collide with|colliding with|disturb|disturbing",),
    "TOPPLE": ("knock over|knocking over|topple|toppling|tip over|tipping over|dropping",),
    # --- things
    **_nouns(),
    "TABLE": (
        "table|tabletop|table top|workbench|bench|desk|worktop|work surface|surface|workspace|work area",),
    "GROUND": (r"ground|floor|(?<=the\s)(?:bin|trash|rubbish|dustbin)",),
    "THING": ("object|thing|item|piece",), "THINGS": ("objects|things|items|pieces",),
    "TOWER": ("towers?|column",), "ROW": ("row|line",), "BRIDGE": ("bridge|arch",),
    "LARGEST": ("largest|biggest|large|big",), "SMALLEST": ("smallest|small|little",),
    "MEDIUM": ("medium(?:-sized)?|middle-sized",), "LARGER": ("larger|bigger",),
    "SIZE": (f"(?:{_NUMBER})[- ](?:(?:cube|block)s? )?(?:high|tall|storey|story|level|cube|block|layer)",),
    "COLOUR": ("|".join(COLOURS),),
    "COLOURED": ("|".join(f"{colour}s" for colour in COLOURS),),
    "NUMBER": (_NUMBER,),
    "IT": (r"it|him|her|that one|this one|this|this cube|that cube|that(?= ?(?:[,.;!]|$|and\b|then\b))",),
    "THEM": ("(?:them|'?em|they|these|those)(?: all)?",), "EACH_OTHER": ("each other|one another",),
    # --- which
    "THE": (f"the|your|(?:this|that|these|those)(?= (?:{'|'.join((*COLOURS, *SUPPORTS))})\\b)",),
    "A": ("an?|some",), "ANY": ("any|any one|any single|an arbitrary|a random",),
    "WHICHEVER": ("whichever|whatever",), "ANYTHING": ("anything|something",),
    "ONE": ("one|1|a single",), "EACH": ("each|every|each single|every single|each and every",),
    "EXCEPT": ("except(?: for)?|apart from|other than|excluding|with the exception of|but for",),
    "ONLY": ("only|exactly|just",), "NOTHING_ELSE": ("nothing else|no others|nothing more",),
    "OTHER": ("other|remaining",), "ANOTHER": ("another|a second|a different",),
    "SAME": ("the same|one and the same",), "DIFFERENT": ("different|distinct|separate",),
    "ORDINAL": (rf"(?:{'|'.join(_ORDINALS)})(?! {_VERB})",),
    "OTHERS": ("(?:all )?(?:the )?(?:others|remaining ones)|what is (?:left|over)(?! of)",
        "(?:all )?the rest(?: of (?:the cubes|the blocks|them))?|everything else|anything else",
        "(?:all )?(?:the )?other (?:objects|things)",),
    "OF": ("of|using",), "MADE_OF": ("made of|made from|consisting of|made up of",),
    "HUED": (f"{_COLOUR}|colou?red",),
    "HUE": (f"(?:of|in|with|that has|which has|having) (?:the |a )?{_COLOUR}",),
    "OWN_COLOUR": (
        "(?:of|in|with|that has|which has|having) (?:its|their|the)(?: own| same| identical| matching|"
        f" respective)? {_COLOUR}(?: as (?:it|the cubes?|them|itself|themselves))?",
        f"(?:of|in|with) (?:matching|equal|identical|like|the same|same) {_COLOUR}|by {_COLOUR}",
        f"(?:that|which) match(?:es)? (?:its|their|the)(?: cube's)? {_COLOUR}|"
        f"matching (?:its|their) {_COLOUR}",
        f"(?:its|their|the) (?:own|matching|corresponding|respective)(?: {_COLOUR}(?:ed)?)?",
        "its|their|matching|corresponding|respective",
        f"(?:the |its |their )?(?:same|equally|like|identically)[- ]{_COLOUR}(?:ed)?",),
    "OTHER_COLOUR": ("(?:of|in|with|that has|which has) (?:another|a different|different|some other|"
        f"any other|other) {_COLOUR}(?: than its own)?",
        f"(?:that|which) (?:does not|doesn't|do not|don't) (?:match|have) (?:its|their) {_COLOUR}",
        f"(?:a )?(?:different(?:ly)?|other)[- ]{_COLOUR}(?:ed)?|not of (?:its|their)(?: own)? {_COLOUR}",),
    # --- where
    **{side.upper(): (f"{side}(?:-?most|[- ]hand)?|far {side}",
                      f"(?:f[au]rthe(?:st|r)(?: away)?|most|all the way) (?:to the |on the )?{side}")
       for side in ("left", "right")},
    "MIDDLE": ("middle|centre|center|central|middlemost|in between|middle ?,? counted from left to right",),
    "CLOSEST_TO": ("(?:near|clos)e(?:st|r) to|(?:near|clos)e(?:st|r)(?= the )",),
    "FARTHEST_FROM": ("(?:f[au]rthe(?:st|r)|most distant|far)(?: away)? from",),
    "BESIDE": ("(?:right |directly |just |immediately |close )?(?:next to|beside(?: of)?|adjacent to|"
        r"alongside|against|up against|touching|close to|near to|near(?: by| of)?(?= (?:the|an?|any)\b))",
        "side by side with|in contact with|(?:all )?around",),
    "NEAR": (f"(?:near|close|nearer|closer|nearest|closest|front|foremost)(?:(?: to)? {_ROBOT})?",
        f"least far from {_ROBOT}|towards? you|in your direction",),
    "FAR": ("(?:far|f[au]rther|f[au]rthest(?: back)?|most (?:far|distant)|distant|rear|rearmost)"
        f"(?: away)?(?: from {_ROBOT})?",
        "(?:at|in) the back(?! of)|back(?= (?:\\w+ )?(?:cube|block|plate|one)s?\\b)",),
    **{token: patterns for row in relations() for token, patterns in row.words.items()},
    "SIDE": ("(?:hand )?(?:side|end|position)(?: of the (?:table|row))?|of the row",),
    "ON": ("(?:over )?(?:on|onto)|upon|atop|on to|(?:on|onto|in|at) (?:the )?top of",
        "(?:right |directly |straight )?(?:on top of|onto)|directly on|anywhere on",),
    "OVER": ("over|above",), "IN": ("in|into|inside",), "PER": ("per|(?:for|to) (?:each|every)",),
    "DOWN": (r"down|out|off(?= ?(?:[.,;!]|$|and\b|then\b))",),
    "CAN_MOVE": ("can be (?:lifted|moved|picked up|grasped)",),
    "IN_THE_AIR": ("(?:high )?(?:up )?(?:in|into) the air|clear of the table|above the table",),
    "THERE": ("there|(?:do|can) you see",), "ANY_THERE": ("(?:is|are) there|do you (?:see|have|hold)",),
    "ALONE": (_ALONE,),
    "AT": ("at|as",), "TO": ("to|towards?|over to|-+>|=>|→",), "UNDER": ("under|below|beneath|underneath",),
    "SIDE_BY_SIDE": ("(?:right |directly |close )?(?:side by side|side-by-side|adjacent)",
        "(?:right |directly )?(?:next to|beside|adjacent to|against|touching) (?:each other|one another)",),
    "IN_A_ROW": ("in(?:to)? (?:a|one) (?:straight |single )?(?:row|line)",),
    "ACROSS": ("across|across both|spanning|bridging",),
    "FROM": ("from|away from|out of|off|off of|down from",),
    "TOP": ("on top|(?:at|on)(?: the)?(?: very)? top|as the top(?: one)?|topmost|uppermost|top",),
    "BOTTOM": (f"(?:at|on)(?: the)?(?: very)? {_LOW}|as (?:the |its |a )?(?:{_LOW}|foundation)(?: "
        f"one)?|bottommost|{_LOW}|lowest",),
    **{
        f"{way.upper()}WARDS": (
            rf"(?:(?:ordered|going) )?(?:from (?:the )?)?{start}(?: {way})? (?:to|towards) (?:the )?{end}",
            rf"{start}[- ]{way}|from the {start}(?: {way}(?:wards)?)?|{way}wards|{start} first",
            rf"(?:starting|beginning) (?:from|at|with) the {start}|{start} ?[/,-] ?middle ?[/,-] ?{end}",
        )
        for start, end, way in ((_LOW, "top", "up"), ("top", _LOW, "down"))
    },
    "IS": ("(?:is |are )?(?:lying|standing|sitting|resting|located)|lands?|falls?",
        "is|are|were|be|to (?:be|end up|stand|lie|stay)|being|lies?|lives?|stands?|sits?|rests?|stays?",
        "staying|(?:be|is|are|gets?) put|ended up|remains?|goes|go|ends? up|comes?|belongs?",
        f"gets?(?= (?:{_DONE}))",),
    "MUST": (_MUST,),
    "THAT": ("that|which",),
    "NOT": ("not|(?:do|does|must|should|may|shall|will|is|are|but) not|never|cannot",
        "(?:(?:i|we) )?(?:don'?t|do not) want you to",
        f"(?:do|does|must|should|can|is|are)n'?t|(?:not to|no)(?= {_VERB})",),
    "UNWANTED": ("(?:(?:i|we) )?(?:don'?t|do not) want(?: to see)?",),
    "NO": (r"no(?! (?:the|on|in)\b)|none of",), "WITHOUT": ("without|avoid",),
    "THERE_IS": ("there (?:is|are)|you (?:can )?see",),
    # --- between clauses
    "COMMA": (",|/|[(]|[)]",),
    "AND": ("and|&|as well as|plus|and that(?= (?:the|an?|no|none|all|every|each|it|they)\\b)",),
    "WHILE": ("(?:while|when)(?: you)?",),
    "LINK": (
        "so that|such that|so|to(?= touch)|in order to|by(?= (?:putting|placing|moving|stacking|piling)\\b)",
    ),
    "WHAT_COLOUR": (f"(?:what|which) {_COLOUR}(?= (?:is|are)\\b)",),
    "SEEN": ("(?:what (?:do|can) you see|what is (?:there|on the table)|look)(?=[?.!]|$)",),
    "HOW_MANY": ("how many",), "WHAT": ("what|which things",),
    "IN_HAND": ("are you holding|do you hold|is in (?:the|your) (?:gripper|hand)",),
    "IF": ("only if|if|unless|whenever|in case|provided that|as long as",),
    "CORRECTION": (
        r"no wait|wait|i mean|i meant|or rather|scratch that|make that|no ?,|no(?= (?:the|on|in)\b)|sorry",),
    "THEN": ("then|and then|(?:second|third)(?:ly| ?,)|after(?: that|wards)|next|lastly|(?:and )?finally",
        rf"(?:second|third)(?= {_VERB})",),
    "DASH": (":|-{1,2}|—|–",), "WITH": ("with(?: the (?:place|position|location) of)?|having",),
    "END": (r"[.;!?]",),
}  # fmt: skip
_VALUES: dict[str, tuple[str, object]] = {
    **{name.upper() + "S" * plural: ("NOUN", (name, bool(plural)))
       for name in (*SOLIDS, *SUPPORTS, *SHARED, "thing", "table", "ground") for plural in (0, 1)},
    **{word: ("FLANK", side) for word, side in {
        "LEFT": "leftmost", "RIGHT": "rightmost", "NEAR": "nearest", "FAR": "farthest"}.items()},
    **{word: ("EXTENT", word.lower()) for word in ("LARGEST", "SMALLEST", "MEDIUM", "LARGER", "SMALLER")},
    **{word: ("DISTANT", word.lower()) for word in ("CLOSEST_TO", "FARTHEST_FROM")},
    "OWN_COLOUR": ("MATCHING", "own"), "OTHER_COLOUR": ("MATCHING", "other"),
    "UPWARDS": ("DIRECTION", True), "DOWNWARDS": ("DIRECTION", False),
}  # fmt: skip
"""The terminals of the grammar and the values of tokens; of all other tokens the form is all there is."""
UNREAD = {
    "IF": "I cannot make a task depend on '{}'; look first, and say what to do as it is then.",
    "SPACING": "I can keep no distance such as '{}' here; say to which side of what, 'next to', or a place.",
    "CORRECTION": "I cannot take that back ('{}'); say the whole task anew.",
}
"""Why a text with one of these tokens is refused that no rule takes."""
_MILLIMETRES = {"mm": 1, "millimet": 1, "inch": 25.4}


def _millimetres(words: str) -> tuple[int, ...]:
    ((number, unit),) = re.findall(r"(\d[\d.]*) ?(mm|millimet|inch|c)", words)
    return (round(float(number) * _MILLIMETRES.get(unit, 10)),)


_READS: dict[str, Callable[[str], object]] = {t: read for row in relations() for t, read in row.reads.items()}
_READS |= {"SPACING": _millimetres, "COLOURED": lambda word: word[:-1], "ORDINAL": _ORDINALS.__getitem__}
_READS |= dict.fromkeys(("NUMBER", "SIZE"), lambda word: NUMBERS[re.split("[- ]", word)[0]])
_READS["COLOUR"] = lambda word: word.replace("gray", "grey")
VALUED = ("NOUN", "FLANK", "EXTENT", "DISTANT", "MATCHING", "DIRECTION", *_READS)


def said_as(token: str, word: str) -> tuple[str, object]:
    """The terminal of a token, and the value of the word that was said."""
    if token in _READS:
        return token, _READS[token](word)
    return _VALUES.get(token, (token, None))


_LITERAL = re.compile(r"[a-z0-9' -]+")
_UNBOUNDED = ("COMMA", "DASH", "END")
"""Tokens whose patterns may touch other characters."""


def longest(text: str, position: int) -> tuple[str, int]:
    """The token of the longest word or phrase at a position of a text, and its end; "" if there is none."""
    tokens_of, literal, ranks, patterns = _lexicon()
    rank, end = len(tokens_of), position
    if match := literal.match(text, position):
        rank, end = ranks[" ".join(match.group().lower().split())], match.end()
    for other, pattern in patterns:
        match = pattern.match(text, position)
        if match is not None and (match.end() > end or (match.end() == end > position and other < rank)):
            rank, end = other, match.end()
    return (tokens_of[rank], end) if end > position else ("", position)


@lru_cache(maxsize=1)
def _lexicon() -> tuple[list[str], re.Pattern[str], dict[str, int], list[tuple[int, re.Pattern[str]]]]:
    """The tokens by the ranks of their alternatives, the plain words with theirs, and all other patterns.

    Most are plain words: one regular expression for all of these takes a tenth of the time to compile.
    """
    listed = _listed()
    ranks: dict[str, int] = {}
    patterns = []
    for rank, (token, alternative) in enumerate(listed):
        if token not in _UNBOUNDED and _LITERAL.fullmatch(alternative):
            ranks.setdefault(alternative, rank)
        else:
            patterns.append((rank, _compiled(alternative, token not in _UNBOUNDED)))
    words = "|".join(sorted(ranks, key=len, reverse=True))
    return [token for token, _ in listed], _compiled(f"(?:{words})", True), ranks, patterns


@lru_cache(maxsize=1)
def _listed() -> tuple[tuple[str, str], ...]:
    """Every alternative with its token, in the order of the patterns."""
    return tuple((t, a) for t, rows in _PATTERNS.items() for row in rows for a in _alternatives(row))


def tokens() -> list[str]:
    """Every token that a word can be."""
    return list(_PATTERNS)


def words_of_tokens() -> dict[str, list[str]]:
    """The plain words and phrases of each token but FILLER and what only separates clauses."""
    found: dict[str, list[str]] = {}
    for token, alternative in _listed():
        if token not in (*_UNBOUNDED, "FILLER", "LINK") and _LITERAL.fullmatch(alternative):
            found.setdefault(token, []).append(alternative)
    return found


@lru_cache(maxsize=1)
def known_words() -> tuple[str, ...]:
    """Single words that a misspelt one may have been meant to be."""
    words = (a for token, a in _listed() if token != "FILLER")
    return tuple(a for a in words if a.isalpha() and len(a) > 3)


def _compiled(alternative: str, bounded: bool) -> re.Pattern[str]:
    body = alternative.replace(" ?", r"\s*").replace(" ", r"\s+")
    return re.compile(body + "(?![a-z0-9-])" if bounded else body, re.IGNORECASE)


def _alternatives(row: str) -> list[str]:
    """The parts of a pattern between the bars that stand outside of any parentheses or brackets.

    A regular expression takes the first alternative that fits; to take the longest, each must be tried alone.
    """
    parts, depth = [""], 0
    for character in row:
        depth += (character in "([") - (character in ")]")
        if character == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
