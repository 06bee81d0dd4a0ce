"""Words that tell one use of a sentence's form from another."""

from __future__ import annotations

import re


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROLES = word_set("""
    accountant actor actress admin administrator analyst anthropologist apprentice architect
    archaeologist artist assistant astronomer attorney auditor author baker banker barber barista
    bartender biologist blogger bookkeeper broker builder butcher buyer cardiologist carer
    carpenter cashier cfo ceo chef chemist clerk coach coder cofounder columnist comedian composer
    conductor consultant contractor controller cook coo copywriter counsel counsellor counselor
    cto curator dancer dba dean dentist dermatologist designer dev developer devops dietitian
    director dispatcher doctor dramaturg drummer economist editor electrician engineer
    entrepreneur ethnographer farmer filmmaker firefighter fisherman florist founder freelancer
    gardener geographer geologist goldsmith grocer guide hairdresser handyman historian
    hydrologist illustrator inspector instructor intern investigator investor joiner journalist
    judge lawyer lecturer librarian linguist locksmith machinist magistrate manager marketer mason
    mathematician mechanic mediator midwife miner minister musician neurologist novelist nurse
    nutritionist officer operator optician optometrist orthodontist owner painter paramedic
    paralegal pastor pathologist pediatrician pharmacist photographer physicist physician
    physiotherapist pianist pilot planner plumber podcaster poet policeman postdoc postman potter
    principal producer professor programmer proofreader psychiatrist psychologist psychotherapist
    publisher radiologist realtor receptionist recruiter reporter researcher restorer sailor
    salesman salesperson saleswoman scientist screenwriter sculptor seamstress secretary sergeant
    shepherd shopkeeper singer sociologist soldier solicitor sommelier speechwriter sre
    statistician steward streamer student superintendent supervisor surgeon surveyor sysadmin
    tailor teacher technician technologist tester therapist toolmaker trader trainee trainer
    translator interpreter treasurer tutor typist undertaker undergrad underwriter upholsterer vet
    veterinarian videographer violinist waiter waitress warden watchmaker weaver webmaster welder
    winemaker writer youtuber zookeeper pm po qa freelance lead head partner
""")

NOT_NAMES = word_set("""
    a an the not so very really just still now here there back in on at to of for from with about
    into over under afraid alone alive all almost already also always angry annoyed any anxious as
    ashamed asleep available aware away awake awesome bad based better big bit bored broke broken
    busy calm certain clear clever close cold coming concerned confident confused convinced cool
    crazy curious cursed damn dead deaf depressed desperate dizzy done down dying early easy
    excited exhausted fed feeling fine finished first free frustrated full fun funny glad going
    gone good grateful great guessing happy hard hearing heading helpless hers his home homesick
    hoping hot hungry hurt ill impatient impressed inclined interested it its jealous joking keen
    kidding kind last late lazy learning left leaving less lonely looking lost lucky mad me mine
    more my near nervous new next nice no nobody none off ok okay old online open out outside
    overwhelmed pleased poor positive pretty proud puzzled quite ready relieved right running sad
    safe same satisfied scared serious short shy sick silly single sleepy slow smart somewhat
    sorry stuck stupid such sure surprised sweating talking tall that their then they this
    thinking thirsty tired told too totally trying two unable under unsure up upset used using
    usually vegan vegetarian waiting weak wearing well what whatever when where wondering working
    worried wrong yes you young your yours zero one being both celiac coeliac colorblind
    colourblind dyslexic diabetic pregnant deaf blind retired freelance remote english german
    french spanish italian portuguese dutch american british canadian australian indian chinese
    japanese korean irish scottish swedish danish norwegian finnish polish russian turkish greek
    mexican brazilian monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december today tomorrow yesterday
    tonight
""")

CONDITIONS = (
    r"(?:vegetarian|vegan|pescatarian|celiac|coeliac|colou?r[- ]?blind|left[- ]handed|"
    r"right[- ]handed|dyslexic|"
    r"autistic|deaf|blind|diabetic|pregnant|lactose[- ]intolerant|gluten[- ]intolerant|hard "
    r"of hearing|epileptic|"
    r"asthmatic|teetotal|teetotaler|short-sighted|near-?sighted|retired|married|divorced|widowed)"
)
ILLNESSES = (
    r"(?:dyslexia|adhd|add|autism|(?:type [12] )?diabetes|asthma|epilepsy|c(?:o)?eliac "
    r"disease|arthritis|migraines?|"
    r"tinnitus|dyscalculia|dyspraxia|insomnia|anxiety|high blood pressure|(?:an? )?[\w-]+ "
    r"allerg(?:y|ies)|hay fever|"
    r"astigmatism|a wheelchair|a hearing aid|hearing loss|rsi|carpal tunnel(?: syndrome)?)"
)
FAMILY = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|spouse|fianc[ée]e?|son|daughter|kid|"
    r"child|baby|mother|mom|mum|father|"
    r"dad|brother|sister|grandson|granddaughter|dog|cat|puppy|kitten|horse|parrot|rabbit|"
    r"hamster|boat)"
)
POSSESSED = (
    r"(?:kids?|children|sons?|daughters?|brothers?|sisters?|cats?|dogs?|horses?|chickens?|"
    r"parrots?|rabbits?|grandchildren)"
)

# What a standing wish about the work is about.
STYLE = re.compile(
    r"\b(?:answers?|replies|reply|responses?|explanations?|summar(?:y|ies)|sentences?|"
    r"paragraphs?|bullets?(?: points?)?|"
    r"lists?|tables?|headings?|headers?|emojis?|emoticons?|exclamation marks?|jokes?|"
    r"adverbs?|jargon|acronyms?|"
    r"tone|style|formal|informal|casual|polite|concise|brief|terse|short|shorter|verbose|"
    r"long|detailed|simple|plain|"
    r"spelling|grammar|english|german|french|spanish|portuguese|italian|dutch|swedish|"
    r"finnish|polish|japanese|chinese|"
    r"british|american|metric|imperial|si units|units|celsius|fahrenheit|grams|kilometers|"
    r"24[- ]?hour|12[- ]?hour|am/pm|"
    r"dates?|times|iso|currency|euros|font|fonts|markdown|latex|html|plain text|code|"
    r"comments?|docstrings?|type hints?|types|"
    r"typescript|tabs?|spaces|indent(?:ation)?|semicolons?|quotes|guillemets|single quotes|"
    r"double quotes|snake_?case|"
    r"camel_?case|kebab-case|pascal_?case|upper ?case|lower ?case|keywords|variable names?|"
    r"names|commits?|commit messages?|"
    r"tests?|linters?|logger|logs?|print|force push|push|commit|branches|pull requests?|"
    r"prs?|examples?|sources?|citations?|"
    r"references|links?|apa|mla|chicago|footnotes?|abbreviations?|charts?|colou?rs?|graphs?|"
    r"diagrams?|plots?|matplotlib|"
    r"sql|python|javascript|rust|gdscript|c#|java|go|kotlin|bash|shell|functions?|classes|orms?|"
    r"present tense|past tense|first person|third person|oxford comma|numbered|steps|diffs?|"
    r"whole file|full file|patch)\b",
    re.IGNORECASE,
)

TOOLS = word_set("""
    postgres postgresql mysql mariadb sqlite redis mongo mongodb kafka rabbitmq nats elasticsearch
    opensearch clickhouse duckdb snowflake bigquery dynamodb cassandra neo4j supabase firebase
    docker podman kubernetes k8s k3s helm kustomize terraform opentofu pulumi ansible puppet chef
    nomad vagrant traefik nginx caddy apache haproxy envoy istio linkerd aws gcp azure hetzner
    fly.io heroku vercel netlify cloudflare digitalocean ovh linode github gitlab bitbucket gitea
    jenkins buildkite circleci travis argo argocd drone woodpecker teamcity bazel make cmake
    gradle maven sbt npm pnpm yarn bun deno node pip uv poetry conda mamba pipenv hatch pdm cargo
    rustup go rust python ruby rails django flask fastapi litestar starlette htmx react vue svelte
    angular solid next.js nextjs nuxt remix astro tailwind bootstrap vite webpack esbuild rollup
    jest vitest mocha playwright cypress selenium pytest unittest rspec typescript javascript
    kotlin swift java scala clojure elixir phoenix erlang haskell ocaml zig c++ c# f# perl php
    laravel symfony wordpress drupal shopify magento vim neovim emacs helix vscode zed sublime
    intellij pycharm webstorm goland xcode eclipse jupyter colab rstudio matlab octave r julia
    stata spss sas excel sheets libreoffice word powerpoint keynote pages notion obsidian logseq
    roam evernote onenote confluence jira linear asana trello monday.com clickup basecamp slack
    teams discord zoom mattermost matrix signal telegram whatsapp figma sketch photoshop
    illustrator lightroom gimp inkscape krita blender unity unreal godot aseprite maya houdini
    procreate premiere resolve ableton logic reaper cubase audacity garageband git svn mercurial
    jj zsh bash fish tmux screen iterm alacritty kitty wezterm ghostty mac macos macbook windows
    linux ubuntu debian fedora arch nixos alpine raspberry android ios ipad iphone pixel thinkpad
    grafana prometheus loki datadog sentry newrelic splunk kibana pagerduty opsgenie airflow
    dagster prefect dbt spark flink hadoop pandas polars numpy scipy sklearn pytorch tensorflow
    keras jax huggingface ollama langchain openai anthropic claude gemini stripe paypal adyen
    klarna twilio sendgrid mailgun salesforce hubspot zendesk intercom greenhouse ashby workday
    sap odoo quickbooks xero datev ruff black flake8 mypy pyright eslint prettier biome sqlalchemy
    prisma drizzle hibernate celery sidekiq zotero mendeley endnote overleaf latex typst pandoc
    quarto squarespace wix webflow mailchimp substack ghost airtable
""")

EVENTS = re.compile(
    r"\b(?:meeting|meet|call|demo|launch|release|deadline|exam|test|quiz|interview|review|"
    r"hearing|appointment|dentist|doctor|"
    r"surgery|party|wedding|birthday|funeral|gig|concert|show|festival|flight|train|trip|"
    r"holiday|vacation|conference|"
    r"workshop|webinar|talk|lecture|class|course|retro|retrospective|standup|stand-up|"
    r"planning|sprint|freeze|migration|"
    r"maintenance|window|outage|cutover|go-live|rollout|deploy|deployment|delivery|shipment|"
    r"order|invoice|rent|payment|tax|"
    r"taxes|bill|contract|lease|subscription|certificate|cert|licen[cs]e|visa|passport|"
    r"warranty|trial|submission|draft|"
    r"chapter|thesis|paper|report|essay|homework|assignment|proofs?|manuscript|presentation|"
    r"pitch|audit|inspection|"
    r"postmortem|offsite|onboarding|kick-?off|milestone|beta|election|match|game|tournament|"
    r"race|marathon|"
    r"rehearsal|recital|exhibition|opening|closing|match|dinner|lunch|breakfast|brunch|"
    r"picnic|bbq|reservation|booking|"
    r"checkup|check-up|vaccination|moving day|move|roster|jam|semester|term|school|camp|"
    r"visit|anniversary|handover|reunion|"
    r"auction|sale|season|parcel|package|due|due date|turns|visiting|hackathon|graduation|"
    r"orientation|ceremony|trip)\b",
    re.IGNORECASE,
)
RELATIONS = (
    r"(?:(?:head|lead|line|project|product|account|office|store|team|bank|key|main|lab|"
    r"study|business|research|phd) )?"
    r"(?:nurse|manager|boss|doctor|gp|dentist|accountant|lawyer|attorney|editor|vet|"
    r"landlord|landlady|designer|supervisor|"
    r"advisor|adviser|professor|recruiter|supplier|colleague|co-?worker|partner|teacher|"
    r"coach|agent|therapist|solicitor|"
    r"contact|client|customer|assistant|secretary|director|cto|ceo|cfo|coo|lead|engineer|"
    r"developer|mentor|tutor|publisher|"
    r"plumber|electrician|mechanic|caretaker|neighbou?r|roommate|flatmate|babysitter|nanny|"
    r"cleaner|consultant|admin|sysadmin|"
    r"on-?call|owner|reviewer|translator|photographer|pharmacist|chef|driver|gardener|tech "
    r"lead|principal|co-?founder|midwife)"
)
