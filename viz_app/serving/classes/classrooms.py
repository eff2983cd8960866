"""Classes: the open poll, its answers, and the teacher's place.

A class has a public code, and a teacher, known by the browser that opened it. The names of browsers say nothing about
their users (see `viz_app.serving.browser_cookie`). All data are deleted when the class ends, or has not been used for
some hours. Until then they survive a restart of the server (see `viz_app.serving.classes.class_file`).
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from viz_app.serving.browser_cookie import SECRET_BYTES
from viz_app.serving.classes.class_file import ClassFile
from viz_app.serving.classes.polls import Name, OptionNumber, PollResult, Question, State
from viz_app.serving.request_origin import party
from viz_app.serving.token_bucket import TokenBucket

CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that looks like another
CODE_LENGTH = 6
MAX_CLASSES = 64
MAX_CLASSES_OF_ADDRESS = 8
CLASSES_PER_MINUTE = 20  # new ones of the whole server
MAX_STUDENTS = 1_000  # of a class
MAX_POLLS = 100  # of a class; the results of older ones are dropped
MAX_VIEW = 8_000  # characters of the state of the teacher's view
IDLE_SECONDS = 4 * 3600.0
PRESENT_SECONDS = 10.0  # a browser that has not asked for this long has left

_DAMAGED = (msgspec.MsgspecError, UnicodeError, RecursionError)
_log = logging.getLogger(__name__)

_Param = Annotated[str, Meta(max_length=2_400)]


class Place(Struct, frozen=True, kw_only=True):
    """Page and state on the teacher's screen, from its address.

    Args:
        page: Path of the page, "" for the home.
        params: Parameters of its address: sentence, model, lesson.
        view: State of the view, JSON that only its component reads; "" for none.
    """

    page: Annotated[str, Meta(pattern=r"\A[a-z]{0,16}\Z")]
    params: Annotated[dict[Name, _Param], Meta(max_length=8)]
    view: Annotated[str, Meta(max_length=MAX_VIEW)] = ""


class ClassView(Struct, frozen=True, kw_only=True):
    """A class as one of its browsers may see it.

    Args:
        is_teacher: Whether this browser opened it.
        students: Browsers present now, without the teacher's.
        poll: Number of the present poll, from 1; 0 before the first.
        state: State of the poll.
        question: Question of the poll; None before the first.
        answers: Number of answers.
        mine: Answer of this browser.
        counts: Answers by option: for the teacher, and for all when it is revealed.
        is_led: Whether the class follows the teacher's screen.
        place: The teacher's place.
        moves: Number of changes of `place`.
    """

    is_teacher: bool
    students: int
    poll: int
    state: State
    question: Question | None
    answers: int
    mine: int | None
    counts: dict[int, int] | None
    is_led: bool
    place: Place | None
    moves: int


class NoSuchClass(Exception):
    """No class has this code; it may have ended."""


class NotTheTeacher(Exception):
    """Another browser opened this class."""


class AnswerRefused(Exception):
    """The poll is closed, another one is open, it has no such option, or the class is full."""


class TooManyClasses(Exception):
    """This server, or one party, has the largest allowed number of classes, or opens them too fast."""


class _Class(Struct, kw_only=True, omit_defaults=True):
    """One class, as it also stands in its file."""

    owner: str
    address: str
    used: float = 0.0
    number: Annotated[int, Meta(ge=0)] = 0
    state: State = "closed"
    question: Question | None = None
    answers: Annotated[dict[str, OptionNumber], Meta(max_length=MAX_STUDENTS)] = {}
    origins: dict[str, int] = {}  # of the answers: hashes of addresses
    results: Annotated[list[PollResult], Meta(max_length=MAX_POLLS)] = []
    seen: dict[str, float] = {}
    is_led: bool = False
    place: Place | None = None
    moves: Annotated[int, Meta(ge=0)] = 0

    def store_result(self) -> None:
        """Keep the result of the present poll, if it has answers."""
        if self.question is not None and self.answers:
            self.results = [*self.results[1 - MAX_POLLS :], self.result(self.question)]

    def result(self, question: Question) -> PollResult:
        return PollResult(question=question, counts=dict(sorted(Counter(self.answers.values()).items())))

    def make_room(self, origin: int) -> bool:
        """Remove the newest answer of the address that has most; return False if `origin` would then have as many."""
        counts = Counter(self.origins.values())
        (most, count), *_ = counts.most_common(1)
        if counts[origin] + 1 >= count:
            return False
        newest = next(browser for browser in reversed(self.origins) if self.origins[browser] == most)
        del self.answers[newest], self.origins[newest]
        return True


class _Saved(Struct):
    """File of all classes."""

    secret: Annotated[bytes, Meta(min_length=SECRET_BYTES, max_length=SECRET_BYTES)]
    classes: Annotated[dict[str, msgspec.Raw], Meta(max_length=MAX_CLASSES)]


class Classrooms:
    """All classes of a server. Safe for threads. A model server offers its public methods to front ends.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._classes: dict[str, _Class] = {}
        self._new = TokenBucket(CLASSES_PER_MINUTE / 60, CLASSES_PER_MINUTE, clock)
        self._secret = secrets.token_bytes(SECRET_BYTES)
        self._is_saved = False
        self._lock = threading.Lock()

    def cookie_secret(self) -> bytes:
        """Return the secret that signs the cookies of browsers, the same for all front ends."""
        return self._secret

    def open(self, owner: str, address: str = "") -> str:
        """Open a class; return its code, or the code of the class that this browser already has.

        Args:
            owner: The teacher's browser.
            address: Address of the browser.

        Raises:
            TooManyClasses: The server, or the address's party, has the largest allowed number, or too many are new.
        """
        address = party(address)
        with self._lock:
            self._forget_idle()
            for code, each in self._classes.items():
                if each.owner == owner:
                    return code
            of_address = sum(each.address == address for each in self._classes.values())
            if len(self._classes) >= MAX_CLASSES or of_address >= MAX_CLASSES_OF_ADDRESS or not self._new.try_take():
                raise TooManyClasses
            code = self._new_code()
            self._classes[code] = _Class(owner=owner, address=address, used=self._clock())
            self._is_saved = False
            return code

    def code_of(self, owner: str) -> str | None:
        """Return the code of the class that a browser has opened; None without one."""
        with self._lock:
            return next((code for code, each in self._classes.items() if each.owner == owner), None)

    def ask(self, code: str, owner: str, question: Question) -> None:
        """Open a poll; the one before it ends. Raises NoSuchClass, NotTheTeacher."""
        with self._lock:
            room = self._of_teacher(code, owner)
            room.store_result()
            room.number += 1
            room.question, room.state, room.answers, room.origins = question, "open", {}, {}

    def set_state(self, code: str, owner: str, state: State) -> None:
        """Close the poll, reveal its result, or open it again. Raises NoSuchClass, NotTheTeacher."""
        with self._lock:
            room = self._of_teacher(code, owner)
            if room.question is not None:
                room.state = state

    def answer(self, code: str, browser: str, poll: int, option: int, address: str = "") -> None:
        """Store a browser's one answer, which may change while the poll is open.

        In a full poll it takes the place of an answer of the address that has most.

        Raises:
            NoSuchClass: No class has this code.
            AnswerRefused: The poll takes no such answer.
        """
        with self._lock:
            room = self._class(code)
            question = room.question
            if question is None or room.state != "open" or poll != room.number:
                raise AnswerRefused("this poll is not open")
            if not 0 <= option < question.options:
                raise AnswerRefused(f"the option is {option}, but must be less than {question.options}")
            if browser not in room.answers:
                origin = hash(party(address))
                if len(room.answers) >= MAX_STUDENTS and not room.make_room(origin):
                    raise AnswerRefused(f"{MAX_STUDENTS:,} have answered already")
                room.origins[browser] = origin
            room.answers[browser] = option
            self._is_saved = False

    def look(self, code: str, browser: str) -> ClassView:
        """Return the class as a browser may see it, and count the browser as present. Raises NoSuchClass."""
        with self._lock:
            room, now = self._class(code), self._clock()
            is_teacher = browser == room.owner
            if not is_teacher:
                self._note_presence(room, browser, now)
            shows_counts = room.question is not None and (is_teacher or room.state == "revealed")
            return ClassView(
                is_teacher=is_teacher,
                students=sum(now - seen < PRESENT_SECONDS for seen in room.seen.values()),
                poll=room.number,
                state=room.state,
                question=room.question,
                answers=len(room.answers),
                mine=room.answers.get(browser),
                counts=dict(Counter(room.answers.values())) if shows_counts else None,
                is_led=room.is_led,
                place=room.place if room.is_led else None,
                moves=room.moves,
            )

    def lead(self, code: str, owner: str, is_led: bool) -> None:
        """Set whether the class follows the teacher's screen. Raises NoSuchClass, NotTheTeacher."""
        with self._lock:
            self._of_teacher(code, owner).is_led = is_led

    def show_place(self, code: str, owner: str, place: Place) -> None:
        """Set the teacher's place. Raises NoSuchClass, NotTheTeacher."""
        with self._lock:
            room = self._of_teacher(code, owner)
            if room.place != place:
                room.place = place
                room.moves += 1

    def results(self, code: str, owner: str) -> tuple[PollResult, ...]:
        """Return the results of every poll, the present one last. Raises NoSuchClass, NotTheTeacher."""
        with self._lock:
            room = self._of_teacher(code, owner)
            now = [room.result(room.question)] if room.question is not None and room.answers else []
            return (*room.results, *now)

    def end(self, code: str, owner: str) -> None:
        """Forget a class and all of its answers. Raises NoSuchClass, NotTheTeacher."""
        with self._lock:
            self._of_teacher(code, owner)
            del self._classes[code]

    def _restore(self, data: bytes) -> None:
        """Set the classes that a file holds; what is damaged in it is left out."""
        try:
            saved = msgspec.json.decode(data, type=_Saved)
        except _DAMAGED as error:
            _log.warning("classes are not restored: %s", error)
            return
        self._secret = saved.secret
        for code, each in saved.classes.items():
            try:
                room = msgspec.json.decode(each, type=_Class)
                origins = dict.fromkeys(room.answers, 0)  # where they came from is not kept
                self._classes[code] = replace(room, used=self._clock(), origins=origins)
            except _DAMAGED as error:
                _log.warning("class %r is not restored: %s", code, error)

    def _changed(self) -> bytes | None:
        """Return the classes as their file holds them; None if nothing has changed since the last call."""
        with self._lock:
            self._forget_idle()
            if self._is_saved:
                return None
            self._is_saved = True
            copies = {
                code: replace(each, used=0.0, answers=dict(each.answers), origins={}, seen={})
                for code, each in self._classes.items()
            }
        return msgspec.json.encode({"secret": self._secret, "classes": copies})

    def _forget_idle(self) -> None:
        now = self._clock()
        for code in [code for code, each in self._classes.items() if now - each.used >= IDLE_SECONDS]:
            del self._classes[code]
            self._is_saved = False

    def _class(self, code: str) -> _Class:
        room = self._classes.get(code)
        if room is None or self._clock() - room.used >= IDLE_SECONDS:
            raise NoSuchClass
        return room

    def _of_teacher(self, code: str, owner: str) -> _Class:
        room = self._class(code)
        if room.owner != owner:
            raise NotTheTeacher
        room.used, self._is_saved = self._clock(), False
        return room

    def _note_presence(self, room: _Class, browser: str, now: float) -> None:
        if browser not in room.seen and len(room.seen) >= MAX_STUDENTS:
            room.seen = {each: seen for each, seen in room.seen.items() if now - seen < PRESENT_SECONDS}
            if len(room.seen) >= MAX_STUDENTS:
                return
        room.seen[browser] = room.used = now

    def _new_code(self) -> str:
        while True:
            code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
            if code not in self._classes:
                return code


def keep_in_file(store: Classrooms, server: str) -> Callable[[], None]:
    """Restore the classes that a server had when it ended, and keep its classes in a file from now on.

    Args:
        store: The store, before its first use.
        server: Name of the server, as for `ClassFile`.

    Returns:
        The function that writes the file at once, for the server's end.
    """
    try:
        file = ClassFile(server)
    except OSError as error:
        _log.warning("classes would not survive a restart: %s", error)
        return lambda: None
    if (data := file.read(IDLE_SECONDS)) is not None:
        store._restore(data)
    return file.keep(store._changed)


def is_code(text: str) -> bool:
    """Return whether a text has the form of a code."""
    return len(text) == CODE_LENGTH and all(letter in CODE_LETTERS for letter in text)
