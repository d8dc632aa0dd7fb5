"""Random personal data, valid by arithmetic of its own: nothing here asks what the mask asks.

Check digits are computed as each country publishes them; numbers of telephones are drawn from area
codes in use. A value is written in one of the ways people write it, with or without words around.
"""

import random
import string
from collections.abc import Callable

# Area codes in use in the United States.
AREAS = (201, 202, 205, 212, 213, 305, 312, 404, 415, 503, 512, 602, 617, 702, 713, 808, 917)
Make = Callable[[random.Random], str]
AROUND = ("{}", "{}", "{}", "who is {}", "call {} now", "{} hotel", "find {} please")


def digits(rng: random.Random, n: int) -> str:
    return "".join(rng.choice(string.digits) for _ in range(n))


def grouped(text: str, sizes: tuple[int, ...], separator: str) -> str:
    parts, start = [], 0
    for size in sizes:
        parts.append(text[start : start + size])
        start += size
    return separator.join(parts)


def luhn_digit(body: str) -> str:
    total = 0
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (2 - place % 2)
        total += value // 10 + value % 10
    return str(-total % 10)


def mod97(text: str) -> int:
    return int("".join(str(int(character, 36)) for character in text)) % 97


# --- telephones ----------------------------------------------------------------------------


def american(rng: random.Random) -> str:
    area = rng.choice(AREAS)
    while True:
        exchange = f"{rng.randint(2, 9)}{digits(rng, 2)}"
        if exchange[1:] != "11" and exchange != "555":
            return f"{area}{exchange}{digits(rng, 4)}"


def us_phone(rng: random.Random) -> str:
    number = american(rng)
    a, e, n = number[:3], number[3:6], number[6:]
    return rng.choice([f"({a}) {e}-{n}", f"{a}-{e}-{n}", f"{a}.{e}.{n}", f"{a} {e} {n}", number])


def us_phone_with_one(rng: random.Random) -> str:
    number = american(rng)
    a, e, n = number[:3], number[3:6], number[6:]
    return rng.choice([f"1-{a}-{e}-{n}", f"1 {a} {e} {n}", f"1 ({a}) {e}-{n}", f"1{number}"])


def french_phone(rng: random.Random) -> str:
    first = rng.choice(["1", "2", "3", "4", "6", "6", "9"])
    start = {"1": "4", "2": "4", "3": "8", "4": "7", "6": str(rng.randint(0, 9)), "9": "5"}[first]
    number = f"0{first}{start}{digits(rng, 7)}"
    return rng.choice([grouped(number, (2,) * 5, " "), grouped(number, (2,) * 5, "."), number])


def italian_phone(rng: random.Random) -> str:
    if rng.random() < 0.6:
        number = f"3{rng.choice('23489')}{rng.randint(0, 9)}{digits(rng, 7)}"
        return rng.choice([grouped(number, (3, 3, 4), " "), grouped(number, (3, 7), " "), number])
    area = rng.choice(["02", "06"])
    number = f"{area}{rng.randint(2, 8)}{digits(rng, 7)}"
    return rng.choice([f"{number[:2]} {number[2:]}", f"{number[:2]}-{number[2:]}", number])


def spanish_phone(rng: random.Random) -> str:
    number = rng.choice(["6", "91", "93", "95"])
    number += str(rng.randint(2, 8))
    number += digits(rng, 9 - len(number))
    shapes = [(3, 3, 3), (3, 2, 2, 2), (9,)]
    return grouped(number, rng.choice(shapes), " ")


def indian_phone(rng: random.Random) -> str:
    number = rng.choice(["98", "99", "97", "94", "90", "88"]) + digits(rng, 8)
    return rng.choice(
        [grouped(number, (5, 5), " "), grouped(number, (5, 5), "-"), number, f"0{number}"]
    )


def swiss_phone(rng: random.Random) -> str:
    area = rng.choice(["076", "078", "079", "021", "022", "031", "044", "061"])
    number = area + str(rng.randint(2, 8)) + digits(rng, 6)
    shapes = [(3, 3, 2, 2), (3, 7), (10,)]
    return grouped(number, rng.choice(shapes), " ")


def british_phone(rng: random.Random) -> str:
    if rng.random() < 0.5:
        number = f"07{rng.choice(['400', '717', '789', '850', '980'])}{digits(rng, 6)}"
        return grouped(number, rng.choice([(5, 6), (5, 3, 3), (11,)]), " ")
    number = f"020{rng.choice('378')}{digits(rng, 7)}"
    return grouped(number, rng.choice([(3, 4, 4), (3, 8), (11,)]), " ")


def german_phone(rng: random.Random) -> str:
    if rng.random() < 0.5:
        number = f"01{rng.choice(['51', '60', '70', '72', '76'])}{digits(rng, 7)}"
        return rng.choice([f"{number[:4]} {number[4:]}", f"{number[:4]}/{number[4:]}", number])
    area = rng.choice(["030", "040", "089"])
    number = f"{rng.randint(2, 9)}{digits(rng, 7)}"
    return rng.choice([f"{area} {number}", f"{area}/{number}", f"({area}) {number}", area + number])


def dutch_phone(rng: random.Random) -> str:
    if rng.random() < 0.5:
        number = f"06{rng.choice('12345')}{digits(rng, 7)}"
        return rng.choice([f"06-{number[2:]}", f"06 {number[2:]}", number])
    number = rng.choice(["010", "020", "030", "070"]) + str(rng.randint(2, 7)) + digits(rng, 6)
    return rng.choice([f"{number[:3]}-{number[3:]}", f"{number[:3]} {number[3:]}", number])


def norwegian_phone(rng: random.Random) -> str:
    if rng.random() < 0.5:
        number = rng.choice(["90", "91", "92", "95", "97", "41", "45", "48"]) + digits(rng, 6)
        return rng.choice([grouped(number, (3, 2, 3), " "), f"tlf {number}"])
    number = rng.choice(["22", "55", "73", "51"]) + str(rng.randint(1, 9)) + digits(rng, 5)
    return rng.choice([grouped(number, (2,) * 4, " "), f"telefon {number}"])


def foreign_phone(rng: random.Random) -> str:
    code, length = rng.choice([("47", 8), ("33", 9), ("41", 9), ("46", 9), ("1", 10), ("91", 10)])
    number = str(rng.randint(2, 9)) + digits(rng, length - 1)
    half = length // 2
    return rng.choice(
        [f"+{code} {number[:half]} {number[half:]}", f"+{code}{number}", f"00{code} {number}"]
    )


# --- numbers that states give --------------------------------------------------------------


def us_ssn(rng: random.Random) -> str:
    area = rng.choice([n for n in range(1, 900) if n != 666])
    number = f"{area:03}", f"{rng.randint(1, 99):02}", f"{rng.randint(1, 9999):04}"
    return rng.choice(["-".join(number), " ".join(number), f"ssn {''.join(number)}"])


def swiss_ahv(rng: random.Random) -> str:
    body = "756" + digits(rng, 9)
    total = sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(body))
    number = body + str(-total % 10)
    return rng.choice(
        [grouped(number, (3, 4, 4, 2), "."), grouped(number, (3, 4, 4, 2), " "), number]
    )


def french_nir(rng: random.Random) -> str:
    body = f"{rng.choice('12')}{digits(rng, 2)}{rng.randint(1, 12):02}{rng.randint(1, 19):02}"
    body += f"{rng.randint(1, 990):03}{rng.randint(1, 999):03}"
    number = f"{body}{97 - int(body) % 97:02}"
    return grouped(number, rng.choice([(15,), (1, 2, 2, 2, 3, 3, 2)]), " ")


def codice_fiscale(rng: random.Random) -> str:
    def consonants(n: int) -> str:
        return "".join(rng.choice("BCDFGLMNPRSTVZ") for _ in range(n))

    day = rng.randint(1, 28) + rng.choice([0, 40])
    body = f"{consonants(6)}{digits(rng, 2)}{rng.choice('ABCDEHLMPRST')}{day:02}"
    body += f"{rng.choice('ABCDEFGHIL')}{rng.randint(1, 999):03}"
    odd = (
        1,
        0,
        5,
        7,
        9,
        13,
        15,
        17,
        19,
        21,
        2,
        4,
        18,
        20,
        11,
        3,
        6,
        8,
        12,
        14,
        16,
        10,
        22,
        25,
        24,
        23,
    )
    total = 0
    for place, character in enumerate(body, start=1):
        value = int(character) if character.isdigit() else ord(character) - 65
        total += odd[value] if place % 2 else value
    number = body + chr(65 + total % 26)
    return rng.choice([number, number.lower()])


def spanish_dni(rng: random.Random) -> str:
    n = rng.randint(0, 99_999_999)
    letters = "TRWAGMYFPDXBNJZSQVHLCKE"
    if rng.random() < 0.3:
        kind, n = rng.randint(0, 2), n % 10**7
        return f"{'XYZ'[kind]}{n:07}{letters[(kind * 10**7 + n) % 23]}"
    return f"{n:08}{rng.choice(['', '-', ' '])}{letters[n % 23]}"


def dihedral_digit(body: str) -> str:
    """Verhoeff's check digit: products in the symmetries of a pentagon, places permuted."""

    def times(a: int, b: int) -> int:
        if a < 5:
            return (a + b) % 5 if b < 5 else (a + b) % 5 + 5
        return (a - b) % 5 + 5 if b < 5 else (a - b) % 5

    turn = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
    product = 0
    for place, digit in enumerate(reversed(body), start=1):
        value = int(digit)
        for _ in range(place % 8):
            value = turn[value]
        product = times(product, value)
    return next(str(digit) for digit in range(10) if times(product, digit) == 0)


def aadhaar(rng: random.Random) -> str:
    while True:
        body = str(rng.randint(2, 9)) + digits(rng, 10)
        number = body + dihedral_digit(body)
        if number != number[::-1]:
            return rng.choice(
                [grouped(number, (4, 4, 4), " "), grouped(number, (4, 4, 4), "-"), number]
            )


def indian_pan(rng: random.Random) -> str:
    def letters(n: int) -> str:
        return "".join(rng.choice(string.ascii_uppercase) for _ in range(n))

    return f"{letters(3)}P{letters(1)}{rng.randint(1, 9999):04}{letters(1)}"


def british_nino(rng: random.Random) -> str:
    first = rng.choice(["AB", "CE", "JK", "NP", "PW", "SR", "TX", "YZ"])
    number = f"{first}{digits(rng, 6)}{rng.choice('ABCD')}"
    return rng.choice([number, grouped(number, (2, 2, 2, 2, 1), " "), number.lower()])


def german_tax_number(rng: random.Random) -> str:
    # One of the ten digits stands twice among the first ten, one is left out, 0 is not first.
    while True:
        order = rng.sample(string.digits, 10)
        left_out, twice = rng.sample(range(10), 2)
        order[left_out] = order[twice]
        body = "".join(order)
        if body[0] != "0":
            break
    product = 10
    for digit in body:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    number = body + str((11 - product) % 10)
    return grouped(number, rng.choice([(11,), (2, 3, 3, 3)]), " ")


def norwegian_number(rng: random.Random) -> str:
    while True:
        born = f"{rng.randint(1, 28):02}{rng.randint(1, 12):02}{rng.randint(40, 99):02}"
        body = born + f"{rng.randint(0, 499):03}"
        first = (
            -sum(int(d) * w for d, w in zip(body, (3, 7, 6, 1, 8, 9, 4, 5, 2), strict=True)) % 11
        )
        body += str(first)
        last = -sum(
            int(d) * w for d, w in zip(body[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2), strict=False)
        )
        if first < 10 and last % 11 < 10:
            return grouped(body + str(last % 11), rng.choice([(11,), (6, 5)]), " ")


def dutch_bsn(rng: random.Random) -> str:
    while True:
        body = str(rng.randint(1, 9)) + digits(rng, 7)
        last = sum(int(digit) * (9 - place) for place, digit in enumerate(body)) % 11
        if last < 10:
            number = f"{body}{last}"
            return rng.choice([f"bsn {number}", grouped(number, (4, 2, 3), ".")])


# --- money, addresses, secrets -------------------------------------------------------------


def iban(rng: random.Random) -> str:
    country, n = rng.choice(
        [("DE", 18), ("CH", 17), ("FR", 23), ("ES", 20), ("NO", 11), ("BE", 12)]
    )
    body = digits(rng, n)
    number = f"{country}{98 - mod97(body + country + '00'):02}{body}"
    return rng.choice([number, grouped(number, (4,) * 9, " ").strip()])


def card_of(first: str, length: int, shape: tuple[int, ...]) -> Make:
    def make(rng: random.Random) -> str:
        body = first + digits(rng, length - 1 - len(first))
        number = body + luhn_digit(body)
        return grouped(number, rng.choice([shape, shape, (length,)]), rng.choice(" -"))

    return make


def card(rng: random.Random) -> str:
    four = (4, 4, 4, 4)
    starts = [(str(n), 16, four) for n in (4, 51, 55, 2221, 2720, 6011, 65)]
    return card_of(*rng.choice([*starts, ("34", 15, (4, 6, 5)), ("37", 15, (4, 6, 5))]))(rng)


def jcb_card(rng: random.Random) -> str:
    number = card_of(str(rng.randint(3528, 3589)), 16, (4, 4, 4, 4))(rng).replace(" ", "-")
    number = number.replace("-", "")
    return grouped(number, (4, 4, 4, 4), rng.choice(" -"))


def _name(rng: random.Random) -> str:
    return "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(3, 9)))


def email(rng: random.Random) -> str:
    user = rng.choice(["{0}.{1}", "{0}", "{0}_{1}", "{0}+{1}", "{0}42"]).format(
        _name(rng), _name(rng)
    )
    return f"{user}@{_name(rng)}.{rng.choice(['org', 'com', 'co.uk', 'ch', 'museum'])}"


def disguised_email(rng: random.Random) -> str:
    user, host, top = _name(rng), _name(rng), rng.choice(["org", "com", "de", "fr", "ch"])
    shape = rng.choice(
        ["{} (at) {}.{}", "{}(at){}.{}", "{} [at] {} [dot] {}", "{}[at]{}.{}", "{} at {} dot {}"]
    )
    return shape.format(user, host, top)


def credentials(rng: random.Random) -> str:
    value = "".join(rng.choice(string.ascii_letters + string.digits) for _ in range(12))
    word = rng.choice(
        ["password", "passwd", "pwd", "api_key", "apikey", "access_token", "Passwort"]
    )
    return rng.choice(
        [f"{word}: {value}", f"{word}={value}", f"{word} = {value}", f"{word}:{value}"]
    )


def ipv4(rng: random.Random) -> str:
    return f"{rng.choice([62, 81, 91, 130, 151])}.{rng.randint(10, 255)}." + ".".join(
        str(rng.randint(1, 254)) for _ in range(2)
    )


def ipv6(rng: random.Random) -> str:
    parts = [rng.choice(["2a00", "2a02", "2600"]), *(f"{rng.getrandbits(16):x}" for _ in range(7))]
    return rng.choice([":".join(parts), ":".join(parts[:4]) + "::" + parts[-1]])


CLASSES: dict[str, Make] = {
    "US telephone": us_phone,
    "US telephone with 1": us_phone_with_one,
    "French telephone": french_phone,
    "Italian telephone": italian_phone,
    "Spanish telephone": spanish_phone,
    "Indian telephone": indian_phone,
    "Swiss telephone": swiss_phone,
    "British telephone": british_phone,
    "German telephone": german_phone,
    "Dutch telephone": dutch_phone,
    "Norwegian telephone": norwegian_phone,
    "telephone from abroad": foreign_phone,
    "US social security number": us_ssn,
    "Swiss AHV number": swiss_ahv,
    "French social security number": french_nir,
    "Italian codice fiscale": codice_fiscale,
    "Spanish DNI and NIE": spanish_dni,
    "Indian Aadhaar": aadhaar,
    "Indian PAN": indian_pan,
    "British National Insurance number": british_nino,
    "German tax number": german_tax_number,
    "Norwegian fødselsnummer": norwegian_number,
    "Dutch BSN": dutch_bsn,
    "IBAN": iban,
    "payment card": card,
    "JCB card, grouped": jcb_card,
    "e-mail": email,
    "e-mail, disguised": disguised_email,
    "password or key": credentials,
    "IPv4": ipv4,
    "IPv6": ipv6,
}


def samples(name: str, n: int, *, seed: int = 15) -> list[tuple[str, str]]:
    """`n` random values of a class, each with the query it stands in."""
    rng = random.Random(f"{name} {seed}")
    values = [CLASSES[name](rng) for _ in range(n)]
    return [(value, rng.choice(AROUND).format(value)) for value in values]
