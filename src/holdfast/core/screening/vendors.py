"""Secrets that tell what they are: keys and tokens in the form of whoever gave them out.

The prefixes are public: vendors choose them so that a leaked key is noticed. A value that says of
itself that it is an example is none.
"""

from __future__ import annotations

import re

from holdfast.core.screening.rule import Rules, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.screening.rule import Rule

_EXAMPLE = re.compile(
    r"example|sample|dummy|placeholder|redacted|your|xxxx|0000000|1111111|aaaaaa|\.\.\.|\*\*\*"
    r"|12345678901|abcdefghij",
    re.IGNORECASE,
)


def is_example(text: str) -> bool:
    """Whether a value says of itself that it is none."""
    return _EXAMPLE.search(text) is not None or len(set(text)) < 6


def _is_real(_: re.Match[str], said: str) -> bool:
    return not is_example(said)


def _token(code: str, stems: str, pattern: str) -> Rule:
    """A token that stands alone: no letter, digit or underscore beside it."""
    return rule(
        f"secret_{code}", stems, rf"(?<![A-Za-z0-9_])(?:{pattern})(?![A-Za-z0-9])", _is_real
    )


VENDORS = Rules(
    (
        _token("aws_key", "AKIA|ASIA|ABIA|ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
        _token("github_token", "gh", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
        _token("github_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{50,255}"),
        _token("gitlab_token", "gl", r"gl(?:pat|dt|ptt|rt|cbt|ft|soat|agent|imt)-[\w-]{20,255}"),
        _token("bitbucket_token", "ATBB", r"ATBB[A-Za-z0-9]{28,64}"),
        _token("slack_token", "xox|xapp", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}"),
        _token("slack_token", "xapp-", r"xapp-\d-[A-Z0-9]{8,20}-\d{8,20}-[a-f0-9]{32,128}"),
        _token(
            "webhook",
            "hooks.slack.com|discord",
            r"https://(?:hooks\.slack\.com/(?:services|workflows|triggers)"
            r"|(?:\w{1,10}\.)?discord(?:app)?\.com/api/webhooks)/[\w/+-]{20,255}",
        ),
        _token(
            "webhook",
            "webhook.office.com",
            r"https://\w{1,40}\.webhook\.office\.com/[\w/@-]{40,300}",
        ),
        _token("stripe_key", "k_live_|k_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
        _token("stripe_key", "whsec_", r"whsec_[A-Za-z0-9+/]{24,255}"),
        _token("anthropic_key", "sk-ant-", r"sk-ant-(?:api|admin|oat|sid)\d{2}-[\w-]{20,255}"),
        _token(
            "openai_key",
            "sk-",
            r"sk-(?:(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,255}|[A-Za-z0-9]{32,64})",
        ),
        _token("google_key", "AIza", r"AIza[\w-]{35}"),
        _token("google_secret", "GOCSPX-", r"GOCSPX-[\w-]{24,40}"),
        _token("google_token", "ya29.", r"ya29\.[\w-]{30,512}"),
        _token("google_token", "1//0", r"1//0[\w-]{30,255}"),
        _token("firebase_key", "AAAA", r"AAAA[\w-]{7}:[\w-]{130,180}"),
        _token(
            "azure_key",
            "AccountKey|SharedAccessKey",
            r"(?:AccountKey|SharedAccessKey)=(?P<s>[A-Za-z0-9+/]{40,100}={0,2})",
        ),
        _token("azure_key", "sig=", r"[?&]sig=(?P<s>[A-Za-z0-9%+/]{40,80}(?:%3D|=)?)"),
        _token("azure_key", "8Q~", r"[\w.~-]{3}8Q~[\w.~-]{31,34}"),
        _token("npm_token", "npm_", r"npm_[A-Za-z0-9]{36}"),
        _token(
            "pypi_token", "pypi-", r"pypi-(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZw)[\w-]{40,255}"
        ),
        _token("rubygems_key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
        _token("crates_token", "cio", r"cio[A-Za-z0-9]{32}"),
        _token("docker_token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{24,64}"),
        _token("twilio_key", "SK", r"SK[a-f0-9]{32}"),
        _token("sendgrid_key", "SG.", r"SG\.[\w-]{20,24}\.[\w-]{39,50}"),
        _token("mailgun_key", "key-", r"key-[a-f0-9]{32}"),
        _token("mailchimp_key", "-us", r"[a-f0-9]{32}-us\d{1,2}"),
        _token("brevo_key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
        _token("resend_key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
        _token("telegram_token", ":AA", r"\d{8,10}:AA[\w-]{33}"),
        _token("discord_token", ".", r"[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}"),
        _token("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{34,40}"),
        _token("replicate_token", "r8_", r"r8_[A-Za-z0-9]{37,40}"),
        _token("groq_key", "gsk_", r"gsk_[A-Za-z0-9]{48,60}"),
        _token("xai_key", "xai-", r"xai-[A-Za-z0-9]{70,90}"),
        _token("perplexity_key", "pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
        _token("digitalocean_token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
        _token("heroku_key", "HRKU-", r"HRKU-[\w-]{36,64}"),
        _token("linear_key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}"),
        _token("notion_token", "ntn_|secret_", r"ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}"),
        _token("figma_token", "figd_", r"figd_[\w-]{36,60}"),
        _token("airtable_token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
        _token("databricks_token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
        _token("doppler_token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{36,80}"),
        _token("vault_token", "hv", r"hv[sbr]\.[\w-]{20,255}"),
        _token("terraform_token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}"),
        _token("grafana_token", "gl", r"gl(?:sa|c)_[A-Za-z0-9+/_]{32,255}={0,2}"),
        _token("newrelic_key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
        _token("sentry_token", "sntry", r"sntry[su]_[\w+/=-]{40,255}"),
        _token("posthog_key", "phx_", r"phx_[A-Za-z0-9]{40,60}"),
        _token("supabase_key", "sb", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{22,60}"),
        _token("shopify_token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
        _token("square_token", "sq0|EAAA", r"sq0(?:atp|csp|idp)-[\w-]{22,43}"),
        _token("planetscale_token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,64}"),
        _token("postman_key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
        _token("atlassian_token", "ATATT3", r"ATATT3[\w=-]{60,255}"),
        _token("tailscale_key", "tskey-", r"tskey-(?:auth|api|client|scim|webhook)-[\w-]{16,80}"),
        _token("fly_token", "fm2_|FlyV1", r"fm2_[\w+/=]{60,1000}"),
        _token("onepassword_token", "ops_", r"ops_ey[\w+/=]{60,2000}"),
        _token("age_key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
        _token("dynatrace_token", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
        _token("pulumi_token", "pul-", r"pul-[a-f0-9]{40}"),
        _token("netlify_token", "nfp_", r"nfp_[A-Za-z0-9]{36,44}"),
        _token("contentful_token", "CFPAT-", r"CFPAT-[\w-]{43}"),
        _token("mapbox_token", "sk.eyJ", r"sk\.eyJ[\w-]{20,255}\.[\w-]{20,64}"),
        _token("facebook_token", "EAA", r"EAA[A-Za-z0-9]{90,300}"),
        _token("langsmith_key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
        _token("clerk_key", "sk_", r"sk_prod_[A-Za-z0-9]{32,64}"),
        _token("bitcoin_key", "prv", r"[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
        _token("jwt", "eyJ", r"eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{16,1000}"),
        _token(
            "jwt",
            "eyJ",
            r"eyJ[\w-]{16,2000}\.[\w-]{0,1000}\.[\w-]{16,1000}\.[\w-]{16,8000}\.[\w-]{16,200}",
        ),
        rule(
            "secret_password_hash",
            "$",
            r"(?<![\w$])(?:\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}"
            r"|\$[156y]\$[./A-Za-z0-9=,]{1,40}\$(?:[./A-Za-z0-9]{1,40}\$)?[./A-Za-z0-9]{22,90}"
            r"|\$argon2(?:id|i|d)\$v=\d{1,4}\$[\w=,]{8,40}\$[A-Za-z0-9+/]{11,64}"
            r"\$[A-Za-z0-9+/]{16,120})",
            _is_real,
        ),
    )
)
