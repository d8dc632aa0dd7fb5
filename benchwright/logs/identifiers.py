"""Numbers that states give to people: their shape, which country's, and what confirms one.

A row is a shape as people write it and a check by python-stdnum, which knows check digits, dates
of birth and numbers never given. Where a number passes its check too easily, or is written like
any other, it needs a word that says what it is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Identifier:
    """A number of one country's people: `check` is a module of python-stdnum, or empty."""

    region: str
    label: str
    shape: str
    check: str = ""
    # Without one of these words anywhere in the text it is not taken for one.
    words: str = ""
    least_digits: int = 8

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w.+-]){self.shape}(?![\w-]|\.\d)", re.IGNORECASE)


DAY = r"(?:0[1-9]|[12]\d|3[01])"
MONTH = r"(?:0[1-9]|1[0-2])"
IDENTIFIERS: tuple[Identifier, ...] = (
    Identifier("AT", "social insurance number", rf"\d{{4}}[ -]{DAY}{MONTH}\d{{2}}", "at.vnr"),
    Identifier("AU", "tax file number", r"\d{3} ?\d{3} ?\d{3}", "au.tfn", r"tfn|tax file"),
    Identifier("BE", "national number", r"\d\d[. ]?\d\d[. ]?\d\d[- ]?\d{3}[. ]?\d\d", "be.nn"),
    Identifier("BR", "CPF", r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}", "br.cpf"),
    Identifier("CA", "social insurance number", r"\d{3}[ -]\d{3}[ -]\d{3}", "ca.sin"),
    Identifier("CH", "AHV number", r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}", "ch.ssn"),
    Identifier("CN", "identity number", r"\d{17}[\dX]", "cn.ric"),
    Identifier("CZ", "birth number", r"\d{6}/\d{3,4}", "cz.rc"),
    Identifier("DE", "tax number (IdNr)", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", "de.idnr"),
    Identifier("DK", "CPR number", rf"{DAY}{MONTH}\d{{2}}[- ]\d{{4}}", "dk.cpr"),
    Identifier("ES", "DNI", r"\d{2}\.?\d{3}\.?\d{3}[- ]?[A-Z]", "es.dni"),
    Identifier("ES", "NIE", r"[XYZ][- ]?\d{7}[- ]?[A-Z]", "es.nie", least_digits=7),
    Identifier("FI", "identity code", rf"{DAY}{MONTH}\d{{2}}[-+A-FU-Y]\d{{3}}[\dA-Y]", "fi.hetu"),
    Identifier(
        "FR",
        "social security number",
        r"[1-478] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}",
        "fr.nir",
    ),
    Identifier(
        "GB",
        "National Insurance number",
        r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]",
        least_digits=6,
    ),
    Identifier("GB", "NHS number", r"(?<!1[ -])\d{3}[ -]\d{3}[ -]\d{4}", "gb.nhs"),
    Identifier("GB", "NHS number", r"\d{10}", "gb.nhs", r"nhs"),
    Identifier("IE", "PPS number", r"\d{7}[A-W][A-IW]?", "ie.pps", least_digits=7),
    Identifier("IN", "Aadhaar", r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}(?![ -]?\d)", "in_.aadhaar"),
    Identifier("IN", "PAN", r"[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]", "in_.pan", least_digits=4),
    Identifier(
        "IT",
        "codice fiscale",
        r"[A-Z]{3} ?[A-Z]{3} ?[\dL-NP-V]{2}[A-EHLMPR-T][\dL-NP-V]{2} ?[A-Z][\dL-NP-V]{3} ?[A-Z]",
        "it.codicefiscale",
        least_digits=4,
    ),
    Identifier("NL", "BSN", r"\d{4}[. ]\d{2}[. ]\d{3}", "nl.bsn"),
    Identifier("NL", "BSN", r"\d{9}|\d{3} \d{3} \d{3}", "nl.bsn", r"bsn|burgerservice\w*|sofi\w*"),
    Identifier("NO", "fødselsnummer", r"\d{6}[ -]?\d{5}", "no.fodselsnummer"),
    Identifier("PL", "PESEL", r"\d{11}", "pl.pesel"),
    Identifier("PT", "NIF", r"\d{9}|\d{3} \d{3} \d{3}", "pt.nif", r"nif|contribuinte"),
    Identifier("SE", "personnummer", r"(?:\d{2})?\d{6}[-+ ]?\d{4}", "se.personnummer"),
    Identifier("TR", "identity number", r"[1-9]\d{10}", "tr.tckimlik"),
    Identifier("US", "social security number", r"\d{3}(?P<s>[- ])\d\d(?P=s)\d{4}", "us.ssn"),
    Identifier("US", "taxpayer number", r"9\d\d(?P<s>[- ])\d\d(?P=s)\d{4}", "us.itin"),
    Identifier("US", "social security number", r"\d{9}", "us.ssn", r"ssn|social security"),
    Identifier("ZA", "identity number", r"\d{6} ?\d{4} ?\d{3}", "za.idnr"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """An identifier made ready: what finds it, its check, and the words it needs, if any."""

    pattern: re.Pattern[str]
    is_valid: Callable[[str], bool]
    words: re.Pattern[str] | None
    least_digits: int

    def masked(self, text: str, replacement: str) -> str:
        if self.words is not None and not self.words.search(text):
            return text
        return self.pattern.sub(
            lambda match: replacement if self.is_valid(match[0]) else match[0], text
        )


@cache
def shapes_of(regions: tuple[str, ...]) -> tuple[Shape, ...]:
    """What finds the numbers of some countries' people."""
    return tuple(_shape(identifier) for identifier in IDENTIFIERS if identifier.region in regions)


def _shape(identifier: Identifier) -> Shape:
    words = re.compile(rf"\b(?:{identifier.words})\b", re.IGNORECASE) if identifier.words else None
    return Shape(identifier.pattern, _check(identifier.check), words, identifier.least_digits)


def _check(name: str) -> Callable[[str], bool]:
    if not name:
        return lambda text: True
    is_valid = import_module(f"stdnum.{name}").is_valid
    # Its modules differ in the separators they take out themselves.
    return lambda text: is_valid(text) or is_valid(re.sub(r"[ .-]", "", text))
