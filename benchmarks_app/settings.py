"""Django settings. Every value that a site may change comes through `env.py`."""

import secrets
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from benchmarks_app.data_folder import make_data_folder, user_data_folder
from benchmarks_app.env import (
    MOST_DAYS,
    MOST_PORT,
    env_addresses,
    env_bool,
    env_broker,
    env_choice,
    env_database,
    env_hosts,
    env_int,
    env_level,
    env_limits,
    env_list,
    env_names,
    env_origins,
    env_path,
    env_proxies,
    env_regions,
    env_secret,
    env_site,
    env_store,
    env_str,
    env_token,
    env_web,
    env_words,
    host_in_links,
    strong_secret,
)
from benchmarks_app.oidc.provider import env_passwords, env_provider
from benchwright.fetching.names import BEIR_URL as BEIR_SETS_URL
from benchwright.files.durable import put_first

PACKAGE_DIR = Path(__file__).resolve().parent
BASE_DIR = PACKAGE_DIR.parent
# A wheel has inside this package what stands at the top of a checkout (ADR 39).
IS_CHECKOUT = not (PACKAGE_DIR / "templates").is_dir()
CARRIED_DIR = BASE_DIR if IS_CHECKOUT else PACKAGE_DIR
# What `make docs` builds; a wheel has it.
DOCS_SITE = CARRIED_DIR / "docs_site"
DATA_DIR = env_path("BENCHWRIGHT_DATA", BASE_DIR / "data" if IS_CHECKOUT else user_data_folder())
make_data_folder(DATA_DIR, is_private=not IS_CHECKOUT)
DEBUG = env_bool("DEBUG", default=False)


def secret_key() -> str:
    """The secret of this site: from the environment, or made once and kept in the data folder."""
    secret = env_secret("SECRET_KEY", is_debug=DEBUG)
    if secret:
        return secret
    new = secrets.token_urlsafe(48).encode()
    kept = put_first(DATA_DIR / "secret_key", new, mode=0o600)
    return strong_secret("SECRET_KEY", kept.decode(), is_debug=DEBUG)


SECRET_KEY = secret_key()
# Earlier ones: what was signed or encrypted with them is still read.
SECRET_KEY_FALLBACKS = env_list("SECRET_KEY_FALLBACKS", [])
SITE_PORT = env_int("PORT", 8000, minimum=1, maximum=MOST_PORT)
SITE_HOST = env_str("HOST", "127.0.0.1")


def site_url() -> str:
    """What addresses in mails and webhooks begin with, where nobody says it."""
    scheme = "https" if env_bool("HTTPS", default=False) else "http"
    return f"{scheme}://{host_in_links(SITE_HOST)}:{SITE_PORT}"


SITE_URL = env_site("SITE_URL", site_url())
# Whether the operator says it: else what is mailed to who asks leads to where they asked.
IS_PLACE_TOLD = bool(env_str("SITE_URL", ""))
# Below which the site is, such as /benchwright; empty where it has a host of its own (ADR 70).
SITE_PATH = urlsplit(SITE_URL).path
FORCE_SCRIPT_NAME = SITE_PATH or None
ALLOWED_HOSTS = env_names("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]", SITE_HOST])
CSRF_TRUSTED_ORIGINS = env_origins("CSRF_TRUSTED_ORIGINS")
# Who is believed about where a request comes from: so many proxies, or those in networks.
TRUSTED_PROXIES = env_proxies("TRUSTED_PROXIES")
USE_X_FORWARDED_HOST = bool(TRUSTED_PROXIES)

INSTALLED_APPS = [
    "benchmarks_app.apps.BenchmarksConfig",
    "annotation.apps.AnnotationConfig",
    "scoring.apps.ScoringConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth.account",  # whose models second factors need; none of its addresses is there
    "allauth.mfa",
    "axes",
    "csp",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
]
MIDDLEWARE = [
    "benchmarks_app.operating.middleware.WatchedRequests",
    "benchmarks_app.forwarding.ForwardingMiddleware",
    *(["benchmarks_app.site_path.OwnCookiesMiddleware"] if SITE_PATH else []),
    "django.middleware.security.SecurityMiddleware",
    "benchmarks_app.static_files.CompressedStaticFiles",
    "benchmarks_app.middleware.CompressedPagesMiddleware",
    "csp.middleware.CSPMiddleware",
    "benchmarks_app.middleware.PrivateAnswersMiddleware",
    "benchmarks_app.static_files.FirstStylesMiddleware",
    "benchmarks_app.middleware.NullCharacterMiddleware",
    "benchmarks_app.middleware.LengthMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "benchmarks_app.language.LanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "benchmarks_app.middleware.UnsavedFormMiddleware",
    "benchmarks_app.middleware.DomainErrorMiddleware",
    "benchmarks_app.people.second_step.AskedFactorMiddleware",
    "axes.middleware.AxesMiddleware",
]
CSRF_FAILURE_VIEW = "benchmarks_app.common.views.csrf_failure"
ROOT_URLCONF = "benchmarks_app.urls"
WSGI_APPLICATION = "benchmarks_app.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [CARRIED_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "benchmarks_app.navigation.navigation",
            ],
            "builtins": [
                "django.templatetags.i18n",
                "benchmarks_app.templatetags.benchwright",
                "benchmarks_app.templatetags.words",
            ],
        },
    }
]

# --- database: SQLite in the data folder, or any URL -------------------------------------------
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    # What is deleted is overwritten with zeros: a name that was taken out is in no freed page.
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=30000; "
        "PRAGMA secure_delete=ON;"
    ),
}
# A pooler before PostgreSQL may give each transaction another connection: that knows neither what
# an earlier one has prepared, nor its cursors.
DATABASE_PREPARED = env_bool("DATABASE_PREPARED", default=True)
POSTGRES_POOL = {"min_size": 1, "max_size": env_int("DATABASE_POOL_SIZE", 16, minimum=1)}
DATABASE = env_database("DATABASE_URL", f"sqlite:///{DATA_DIR / 'benchwright.sqlite3'}")
# What a process that answers many requests has another way. SQLite's file is kept open: to open it
# for each costs more than a judgment does. A pool belongs to one process: the web server has one,
# forked workers do not.
if DATABASE["ENGINE"].endswith("sqlite3"):
    DATABASE["OPTIONS"] = {**DATABASE.get("OPTIONS", {}), **SQLITE_OPTIONS}
    DATABASE_KEPT: dict[str, Any] = {"CONN_MAX_AGE": None}
else:
    DATABASE_KEPT = {"OPTIONS": {**DATABASE.get("OPTIONS", {}), "pool": POSTGRES_POOL}}
DATABASE["DISABLE_SERVER_SIDE_CURSORS"] = not DATABASE_PREPARED
HAS_POOL = env_bool("DATABASE_POOL", default=False)
DATABASES = {"default": {**DATABASE, **DATABASE_KEPT} if HAS_POOL else DATABASE}

ATOMIC_REQUESTS = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- work queue: a folder, or any broker Celery speaks -----------------------------------------
CELERY_BROKER_URL = env_broker("BROKER_URL", "filesystem://localhost")
QUEUE_DIR = DATA_DIR / "queue"
CELERY_BROKER_TRANSPORT_OPTIONS = {}
if CELERY_BROKER_URL.startswith("filesystem://"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(QUEUE_DIR / "messages"),
        "data_folder_out": str(QUEUE_DIR / "messages"),
        "control_folder": str(QUEUE_DIR / "control"),
        "polling_interval": 0.2,
    }
    for folder in ("messages", "control"):
        (QUEUE_DIR / folder).mkdir(parents=True, exist_ok=True)
CELERY_TASK_DEFAULT_QUEUE = env_str("QUEUE_NAME", "benchwright")
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Celery would close the database after each task, whatever CONN_MAX_AGE says; which connection is
# of no use any more is for `celery.keep_connection`.
CELERY_DB_REUSE_MAX = sys.maxsize
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True

# A running job whose heartbeat is older than this was lost with its worker, and starts again.
JOB_HEARTBEAT_SECONDS = env_int("JOB_HEARTBEAT_SECONDS", 5, minimum=1)
JOB_LOST_AFTER_SECONDS = env_int("JOB_LOST_AFTER_SECONDS", 30, minimum=1)
# A queued job not taken for this long is sent again (a second message is harmless).
JOB_RESEND_AFTER_SECONDS = env_int("JOB_RESEND_AFTER_SECONDS", 60, minimum=1)
# Seconds and megabytes a job may take before it is ended with a message; 0 is no limit.
JOB_TIME_LIMITS = env_limits("JOB_TIME_LIMITS", "*=21600,score-submission=3600,score-runs=7200")
JOB_MEMORY_LIMITS = env_limits("JOB_MEMORY_LIMITS", "*=0,score-submission=4096,score-runs=4096")
# How long a job that is told to stop may take for that, before its process is ended.
JOB_GRACE_SECONDS = env_int("JOB_GRACE_SECONDS", 30, minimum=1)
JOB_MAX_ATTEMPTS = env_int("JOB_MAX_ATTEMPTS", 3, minimum=1)
SWEEP_SECONDS = env_int("SWEEP_SECONDS", 15, minimum=1)
WORKER_MISSING_AFTER_SECONDS = 120

# --- judging -----------------------------------------------------------------------------------
# A document that somebody opened goes to others when nothing was heard of them for this long.
LEASE_SECONDS = env_int("LEASE_SECONDS", 1800, minimum=1)
# How old the counts of a pool may be that an annotator sees while judging.
ASIDE_DAYS = env_int("ASIDE_DAYS", 14, minimum=1, maximum=MOST_DAYS)
JUDGE_COUNTS_SECONDS = env_int("JUDGE_COUNTS_SECONDS", 5, minimum=0)
# A label that was given longer ago is stale, whatever its document says today.
LABELS_STALE_AFTER_DAYS = env_int("LABELS_STALE_AFTER_DAYS", 365, minimum=1, maximum=MOST_DAYS)
# A stored comparison at which nobody looked for so long is dropped; asked again, it is made again.
COMPARISON_DAYS = env_int("COMPARISON_DAYS", 30, minimum=1, maximum=MOST_DAYS)

# --- query logs --------------------------------------------------------------------------------
# Countries whose telephone numbers and numbers of people are masked unless an upload says others.
LOG_REGIONS = env_regions(
    "LOG_REGIONS", ("CH", "DE", "ES", "FR", "GB", "IN", "IT", "NL", "NO", "US")
)

# --- files -------------------------------------------------------------------------------------
MEDIA_ROOT = DATA_DIR / "files"
STAGING_DIR = DATA_DIR / "staging"
# Copies of what lies in an object store.
STORE_CACHE_BYTES = env_int("STORE_CACHE_MB", 20_480, minimum=64) * 1024 * 1024
# Temporary files of the processes that read files from outside.
READERS_DIR = DATA_DIR / "readers"
FILE_UPLOAD_TEMP_DIR = str(DATA_DIR / "incoming")
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "benchmarks_app.incoming.LockedFileUploadHandler",
]
for data_folder in (MEDIA_ROOT, STAGING_DIR, READERS_DIR, DATA_DIR / "incoming"):
    data_folder.mkdir(parents=True, exist_ok=True)
# Files from outside are read in processes of their own (services.reading_apart): how many of them,
# and what one file may take of a page's or a job's time and of memory.
READERS = env_int("READERS", 2, minimum=1)
READ_MEMORY_MB = env_int("READ_MEMORY_MB", 2048, minimum=64)
READ_SECONDS = env_int("READ_SECONDS", 30, minimum=1)
READ_JOB_SECONDS = env_int("READ_JOB_SECONDS", 900, minimum=1)
READ_JOB_CPU_SECONDS = env_int("READ_JOB_CPU_SECONDS", 6 * 3600, minimum=1)
UPLOAD_LIMIT_BYTES = env_int("UPLOAD_LIMIT_MB", 8192, minimum=1) * 1024 * 1024
# Collections by name: where they are asked for, and whether that may be in a private network.
FETCH_PRIVATE_ADDRESSES = env_bool("FETCH_PRIVATE_ADDRESSES", default=False)
HUB_ENDPOINT = env_web("HUB_ENDPOINT", "https://huggingface.co")
BEIR_URL = env_web("BEIR_URL", BEIR_SETS_URL, holds="{name}")
# Judges of contextual precision: which secret of the environment goes to which address, whether
# they may be in a private network, and who brings images that a case gives by address.
JUDGE_KEYS = env_addresses("JUDGE_KEYS")
JUDGE_PRIVATE_ADDRESSES = env_bool("JUDGE_PRIVATE_ADDRESSES", default=False)
# Which models are of one family, by words of their names; empty: those of `benchwright.judges`.
JUDGE_FAMILIES = env_words("JUDGE_FAMILIES")
# What becomes of a judge that is of the family of a run in the pool.
JUDGE_CONFLICTS = env_choice("JUDGE_CONFLICTS", "refuse", ("refuse", "explain", "tell"))
JUDGE_REMOTE_IMAGES = env_choice("JUDGE_REMOTE_IMAGES", "pass", ("pass", "fetch", "refuse"))
# Cases of one set; the size and the area of one image, and what all of a set come to.
CASES_MAX = env_int("CASES_MAX", 20_000, minimum=1)
CASE_IMAGE_BYTES = env_int("CASE_IMAGE_MB", 10, minimum=1) * 1024 * 1024
CASE_IMAGE_MEGAPIXELS = env_int("CASE_IMAGE_MEGAPIXELS", 40, minimum=1)
CASE_IMAGES_BYTES = env_int("CASE_IMAGES_MB", 1024, minimum=1) * 1024 * 1024
# Search endpoints that are asked while they run: hosts (or host:port, or *) that need not be in the
# public network, which variable of the environment may be sent where, and how much is read at once.
LIVE_PRIVATE_ADDRESSES = env_hosts("LIVE_PRIVATE_ADDRESSES")
LIVE_SECRETS = env_addresses("LIVE_SECRETS")
LIVE_ANSWER_BYTES = env_int("LIVE_ANSWER_MB", 8, minimum=1) * 1024 * 1024
# Webhooks: hosts (or host:port, or *) that need not be in the public network, and how long one may
# take to answer.
WEBHOOK_PRIVATE_ADDRESSES = env_hosts("WEBHOOK_PRIVATE_ADDRESSES")
WEBHOOK_SECONDS = env_int("WEBHOOK_SECONDS", 10, minimum=1)
# Mails about what happened that one person is sent in an hour.
NOTICE_MAILS_PER_HOUR = env_int("NOTICE_MAILS_PER_HOUR", 20, minimum=1)
STORAGES = {
    "default": env_store("BENCHWRIGHT_STORE"),
    "staticfiles": {"BACKEND": "benchmarks_app.static_files.VersionedStaticFiles"},
}
STATIC_URL = f"{SITE_PATH}/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 3600

# What is kept to save time, and apart from it what limits count: it must not be pushed out.
IN_MEMORY = "django.core.cache.backends.locmem.LocMemCache"
CACHES = {
    "default": {"BACKEND": IN_MEMORY},
    "limits": {"BACKEND": "benchmarks_app.limits.SharedCounts"},
    # Parts of a page's frame, by all that they say: `{% cache %}`.
    "template_fragments": {"BACKEND": IN_MEMORY, "LOCATION": "fragments"},
}

# --- people ------------------------------------------------------------------------------------
SESSION_ENGINE = "benchmarks_app.sessions"
AUTH_USER_MODEL = "benchmarks_app.User"
# Who else signs people in, and whether passwords do as well.
OIDC = env_provider()
SIGN_IN_BY_PASSWORD = env_passwords(OIDC)
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    *(["django.contrib.auth.backends.ModelBackend"] if SIGN_IN_BY_PASSWORD else []),
    *(["benchmarks_app.oidc.backend.ProviderBackend"] if OIDC else []),
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "benchmarks_app.people.services.api_tokens.TokensEnd"},
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
AXES_FAILURE_LIMIT = env_int("SIGN_IN_FAILURES", 5, minimum=1)
AXES_HANDLER = "benchmarks_app.sign_ins.SignInLimits"
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "benchmarks_app.forwarding.counted_address"
AXES_LOCKOUT_TEMPLATE = "registration/locked_out.html"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "credential"]
# Whom a second factor is asked of; who has one is always asked for it.
TWO_FACTORS = env_choice("TWO_FACTORS", "off", ("off", "keepers", "all"))
MFA_ADAPTER = "benchmarks_app.factor_secrets.SecretsAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Benchwright"
# Steps of 30 s before and after: clocks differ, and people are slow.
MFA_TOTP_TOLERANCE = 1
MFA_RECOVERY_CODE_DIGITS = 10
# Sign-ins, failed ones and lock-outs stay so long in the audit log; all else stays for good.
SIGN_INS_KEPT_DAYS = env_int("SIGN_INS_KEPT_DAYS", 90, minimum=1, maximum=MOST_DAYS)
INVITATION_DAYS = 7
# Links that one account is sent in an hour; one address may ask ten times as often.
PASSWORD_RESETS_PER_HOUR = env_int("PASSWORD_RESETS_PER_HOUR", 3, minimum=1)
# Valid submissions of one person that a new phase scores in 24 hours.
SUBMISSIONS_PER_DAY = env_int("SUBMISSIONS_PER_DAY", 20, minimum=1)
# Documents of one query in a submitted run: they are ranked in one piece.
RUN_MAX_DEPTH = env_int("RUN_MAX_DEPTH", 100_000, minimum=1)
# Documents of a corpus up to which an import makes it searchable by itself; 0: never.
SEARCHABLE_MAX_DOCS = env_int("SEARCHABLE_MAX_DOCS", 1_000_000, minimum=0)
# Of a pair of embeddings: a file as sent and unpacked, and rows (the time grows with their square).
CONTRASTIVE_LIMIT_MB = env_int("CONTRASTIVE_LIMIT_MB", 1024, minimum=1)
CONTRASTIVE_MAX_PAIRS = env_int("CONTRASTIVE_MAX_PAIRS", 200_000, minimum=1)
# What the numbers of a submitted matrix may take, unpacked.
EMBEDDINGS_LIMIT_BYTES = env_int("EMBEDDINGS_LIMIT_MB", 8192, minimum=1) * 1024 * 1024
# Documents that one worker searches at a time; a corpus of more is shared among several.
SHARD_DOCUMENTS = env_int("SHARD_DOCUMENTS", 500_000, minimum=1)
EMAIL_HOST = env_str("EMAIL_HOST", "")
# Without a server it is for the operator to read: links that set passwords belong in no log.
EMAIL_BACKEND = env_str(
    "EMAIL_BACKEND",
    f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'filebased'}.EmailBackend",
)
EMAIL_FILE_PATH = DATA_DIR / "mail"
EMAIL_FILE_PATH.mkdir(mode=0o700, exist_ok=True)
EMAIL_TIMEOUT = 10
EMAIL_PORT = env_int("EMAIL_PORT", 25, minimum=1, maximum=MOST_PORT)
EMAIL_HOST_USER = env_str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env_str("EMAIL_HOST_PASSWORD", "")
# Of a connection that begins without: STARTTLS, mostly on port 587. Or from its beginning, on 465.
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", default=False)
EMAIL_USE_SSL = env_bool("EMAIL_USE_SSL", default=False)
DEFAULT_FROM_EMAIL = env_str("DEFAULT_FROM_EMAIL", "benchwright@localhost")

# --- what the browser may do -------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [SELF],
        # Signing in and out leads to the provider and nowhere else.
        "form-action": [SELF, *([OIDC.origin] if OIDC else [])],
        "frame-ancestors": [NONE],
    }
}
HAS_HTTPS = env_bool("HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HAS_HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HAS_HTTPS else None
# It would bind all tools of a host that is shared.
SECURE_HSTS_SECONDS = 31_536_000 if HAS_HTTPS and not SITE_PATH else 0
SECURE_SSL_REDIRECT = HAS_HTTPS
# What watchers ask for at the site's own port, by http, whatever it is called there.
PROBES = ("healthz", "readyz", "metrics")
# Of addresses without their first slash.
SECURE_REDIRECT_EXEMPT = [f"^{SITE_PATH}/{page}$".replace("/", "", 1) for page in PROBES]
# Subdomains, and lists that browsers are built with, are for whoever has the domain to decide.
SILENCED_SYSTEM_CHECKS = [
    "security.W005",
    "security.W021",
    *(["security.W004"] if SITE_PATH else []),
]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_AGE = 14 * 24 * 3600

# --- the API ---------------------------------------------------------------------------------
# Requests a minute of one person, and of one address without an account.
API_REQUESTS_PER_MINUTE = env_int("API_REQUESTS_PER_MINUTE", 600, minimum=1)
API_ANONYMOUS_PER_MINUTE = env_int("API_ANONYMOUS_PER_MINUTE", 60, minimum=1)
# Of these the files that are sent, and what computes or starts a job.
API_UPLOADS_PER_MINUTE = env_int("API_UPLOADS_PER_MINUTE", 60, minimum=1)
API_COMPUTATIONS_PER_MINUTE = env_int("API_COMPUTATIONS_PER_MINUTE", 60, minimum=1)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "benchmarks_app.people.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_PAGINATION_CLASS": "benchmarks_app.api.paging.Pages",
    "DEFAULT_PARSER_CLASSES": ["benchmarks_app.api.parsing.BoundedJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "benchmarks_app.api.schema.Description",
    "DEFAULT_THROTTLE_CLASSES": [
        "benchmarks_app.api.throttling.Rate",
        "benchmarks_app.api.throttling.CostlyRate",
    ],
    "EXCEPTION_HANDLER": "benchmarks_app.api.errors.as_response",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Benchwright",
    "DESCRIPTION": "Pools, judgments and qrels of retrieval benchmarks. See docs/api.md.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVERS": [{"url": SITE_PATH}] if SITE_PATH else [],
    # What is sent and what is answered are two shapes: a file is sent as its bytes.
    "COMPONENT_SPLIT_REQUEST": True,
    # Everything is served by this site: the documentation works without a network.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "defaultModelsExpandDepth": -1},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "benchmarks_app.api.schema.with_errors",
        "benchmarks_app.api.schema.without_false_defaults",
    ],
    "ENUM_NAME_OVERRIDES": {
        "QueueOrder": "annotation.queueing.api.ORDERS",
        "PoolState": "annotation.models.Pool.State",
        "CampaignState": "annotation.models.Campaign.State",
        "CampaignChoice": "annotation.models.Campaign.Choice",
        "JobState": "benchmarks_app.models.Job.State",
        "GateState": "scoring.models.GateResult.State",
        "LiveSystemKind": "scoring.models.LiveSystem.Kind",
        "EvaluationState": "scoring.models.ContextualEvaluation.State",
        "EmbeddingPairState": "scoring.contrastive.api.STATES",
        "CorpusVersionState": "benchmarks_app.models.CorpusVersion.State",
        "CorpusKind": "benchmarks_app.models.Corpus.Kind",
        "Unlisted": "benchmarks_app.models.QrelSet.Unlisted",
        "ReleaseState": "benchmarks_app.models.Release.State",
        "RunKind": "benchmarks_app.models.Run.Kind",
        "RunVisibility": "benchmarks_app.models.Run.Visibility",
        "BenchmarkVisibility": "benchmarks_app.models.Benchmark.Visibility",
        "Unit": "benchmarks_app.models.Unit",
        "TextUnit": "benchmarks_app.importing.api.corpora.UNITS",
        # Generators of clients make names of an object and its field, such as DecisionOutcomeEnum.
        "SettledOutcome": "annotation.models.Judgment.Outcome",
        "LinkVerdict": "benchmarks_app.models.FamilyLink.Verdict",
        "FamilySplit": "benchmarks_app.models.QueryFamily.Split",
        "Split": "benchwright.splits.SPLITS",
    },
}

USE_TZ = True
TIME_ZONE = "UTC"
# --- languages: the interface of annotators and submitters, see `language.py` ------------------
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("zh-hans", "简体中文")]
# Numbers and dates are written alike in all of them.
FORMAT_MODULE_PATH = ["benchmarks_app.formats"]

# Read by Prometheus with this token; without one nobody reads them.
METRICS_TOKEN = env_token("METRICS_TOKEN")
LOG_FORMAT = env_choice("LOG_FORMAT", "line", ("line", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"belonging": {"()": "benchmarks_app.operating.tracing.Belonging"}},
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "format": "{asctime}{levelname}{name}{message}{request_id}{job_id}",
            "style": "{",
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
            "timestamp": False,
        },
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["belonging"],
        }
    },
    "root": {"handlers": ["console"], "level": env_level("LOG_LEVEL", "WARNING")},
    "loggers": {
        **{
            name: {"level": env_level("LOG_LEVEL", "INFO")}
            for name in ("benchmarks_app", "benchwright")
        },
        "django.request": {"level": "ERROR"},
    },
}
