import { sectionTranslations } from './en-sections.ts'
import type { OptionTranslations } from './zh.ts'

export const optionTranslations: OptionTranslations = {
  ...sectionTranslations,
  label: {
    QuotaForNewUser: 'Quota of a new user',
    PreConsumedQuota: 'Minimum hold without a limit',
    QuotaForInviter: 'Reward for an invitation',
    QuotaForInvitee: 'Reward for being invited',
    QuotaRemindThreshold: 'Quota reminder threshold',
    QuotaPerUnit: 'Quota per dollar',
    DisplayInCurrencyEnabled: 'Show quota in dollars',
    CheckInEnabled: 'Daily check-in',
    CheckInQuota: 'Minimum check-in quota',
    CheckInMaxQuota: 'Maximum check-in quota',
    AffEnabled: 'Invitations',
    RebateEnabled: 'Rebates',
    RebatePercentage: 'Rebate share',
    Chats: 'Chat clients',
    ChatLink: 'Chat link',
    ChatLink2: 'Second chat link',
    GroupRatio: 'Group ratios',
    UserUsableGroups: 'Groups that users can choose',
    GroupGroupRatio: 'Special group ratios',
    GroupColors: 'Group colours',
    CreateCacheRatio: 'Cache write ratios',
    ImageRatio: 'Image input ratios',
    AudioRatio: 'Audio input ratios',
    AudioCompletionRatio: 'Audio completion ratios',
    ImageCompletionRatio: 'Image completion ratios',
    ContextTierRatio: 'Ratios for long inputs',
    ToolPrice: 'Prices of provider tools',
    fallback_pricing_enabled: 'Use the fallback price',
    fallback_single_price: 'Fallback fixed price',
    fallback_input_ratio: 'Fallback input ratio',
    fallback_completion_ratio: 'Fallback completion ratio',
    ModelPrice: 'Fixed prices',
    ModelRatio: 'Model ratios',
    CompletionRatio: 'Completion ratios',
    CacheRatio: 'Cache ratios',
    MaxOutputTokens: 'Max output tokens of models',
    'gemini.safety_settings': 'Gemini safety thresholds',
    'gemini.version_settings': 'Gemini API versions',
    'gemini.supported_imagine_models': 'Gemini models that draw',
    'gemini.models_supported_thinking_budget': 'Gemini models with a thinking budget',
    'gemini.thinking_adapter_enabled': 'Gemini thinking by model suffix',
    'gemini.thinking_adapter_budget_tokens_percentage': 'Gemini thinking share',
    'claude.model_headers_settings': 'Claude request headers',
    'claude.default_max_tokens': 'Default max_tokens for Claude',
    'claude.thinking_adapter_enabled': 'Claude thinking by model suffix',
    'claude.thinking_adapter_budget_tokens_percentage': 'Claude thinking share',
    DefaultMaxOutputTokens: 'Default max output tokens',
    BatchRatio: 'Ratio of batches',
    PresetRatioUrl: 'Address of preset ratios',
    ModelRequestRateLimitEnabled: 'Limit the calls of each user',
    ModelRequestRateLimitDurationMinutes: 'Period',
    ModelRequestRateLimitCount: 'Calls per period',
    ModelRequestRateLimitSuccessCount: 'Successful calls per period',
    ModelRequestRateLimitTokensPerMinute: 'Tokens per minute',
    RateLimitsByGroup: 'Limits by group',
    RateLimitsByModel: 'Limits by model',
    'global.pass_through_request_enabled': 'Pass requests through',
    'global.hide_upstream_error_enabled': 'Hide the details of provider errors',
    'global.rate_limit_exempt_enabled': 'Exempt a group from rate limits',
    'global.rate_limit_exempt_group': 'Group without rate limits',
    'global.safe_check_exempt_enabled': 'Exempt a group from the word check',
    'global.safe_check_exempt_group': 'Group without the word check',
    'general_setting.ping_interval_enabled': 'Keep quiet streams alive',
    'general_setting.ping_interval_seconds': 'Ping interval',
    'global.block_browser_extension_enabled': 'Refuse browser extensions',
    StoreConvertedResponsesEnabled: 'Store converted responses',
    RetryTimes: 'Retries after a failure',
    ModelFallbacks: 'Fallback models',
    AutoGroups: 'Groups of the group “auto”',
    AutomaticDisableChannelEnabled: 'Disable failing channels automatically',
    AutomaticEnableChannelEnabled: 'Enable recovered channels automatically',
    ChannelDisableThreshold: 'Maximum response time of a test',
    AutomaticDisableKeywords: 'Keywords that disable a channel',
    'session_affinity.enabled': 'Keep sessions on one channel',
    'session_affinity.idle_minutes': 'Forget idle sessions after',
    'channel_health.circuit_enabled': 'Open circuits of failing channels',
    'channel_health.circuit_failures': 'Failures in a row that open a circuit',
    'channel_health.circuit_rate': 'Or a failure rate of',
    'channel_health.circuit_rate_calls': 'Calls needed before the failure rate counts',
    'channel_health.circuit_window_seconds': 'Time within which failures count',
    'channel_health.circuit_cooldown_seconds': 'First pause of a circuit',
    'channel_health.circuit_cooldown_max_seconds': 'Longest pause of a circuit',
    'channel_health.disable_failures': 'Account errors that disable a channel',
    'channel_health.disable_window_seconds': 'Time within which account errors count',
    'channel_health.slow_tests': 'Slow tests in a row that disable a channel',
    'channel_health.test_enabled': 'Test all channels on a schedule',
    'channel_health.test_minutes': 'Time between tests',
    CheckSensitiveEnabled: 'Check for sensitive words',
    CheckSensitiveOnPromptEnabled: 'Check prompts',
    StopOnSensitiveEnabled: 'Stop an answer at a sensitive word',
    SensitiveWords: 'List of sensitive words',
    ServerAddress: 'Public address',
    SelfUseModeEnabled: 'Self-use mode',
    DemoSiteEnabled: 'Demo site',
    PasswordLoginEnabled: 'Sign in with a password',
    RegisterEnabled: 'Registration of new users',
    PasswordRegisterEnabled: 'Register with a password',
    EmailVerificationEnabled: 'Verify the email address when users register with a password',
    EmailDomainRestrictionEnabled: 'Restrict email domains',
    EmailDomainWhitelist: 'Allowed email domains',
    SMTPServer: 'SMTP server address',
    SMTPPort: 'SMTP port',
    SMTPSSLEnabled: 'Use TLS from the start',
    SMTPAccount: 'SMTP account',
    SMTPFrom: 'Sender address',
    SMTPToken: 'SMTP password',
    GitHubOAuthEnabled: 'Sign in and register with GitHub',
    GitHubClientId: 'GitHub client ID',
    GitHubClientSecret: 'GitHub client secret',
    'github.authorization_endpoint': 'GitHub authorization address',
    'github.token_endpoint': 'GitHub token address',
    'github.user_info_endpoint': 'GitHub account address',
    'oidc.enabled': 'Sign in and register with OIDC',
    'oidc.client_id': 'OIDC client ID',
    'oidc.client_secret': 'OIDC client secret',
    'oidc.well_known': 'OIDC discovery address',
    'oidc.authorization_endpoint': 'OIDC authorization endpoint',
    'oidc.token_endpoint': 'OIDC token endpoint',
    'oidc.user_info_endpoint': 'OIDC user info endpoint',
    LinuxDOOAuthEnabled: 'Sign in and register with LinuxDO',
    LinuxDOClientId: 'LinuxDO client ID',
    LinuxDOClientSecret: 'LinuxDO client secret',
    'linuxdo.authorization_endpoint': 'LinuxDO authorization address',
    'linuxdo.token_endpoint': 'LinuxDO token address',
    'linuxdo.user_info_endpoint': 'LinuxDO account address',
    TelegramOAuthEnabled: 'Sign in with Telegram',
    TelegramBotName: 'Telegram bot',
    TelegramBotToken: 'Telegram bot token',
    WeChatAuthEnabled: 'Sign in and register with WeChat',
    WeChatServerAddress: 'WeChat server',
    WeChatServerToken: 'WeChat server token',
    WeChatAccountQRCodeImageURL: 'WeChat QR code',
    TurnstileCheckEnabled: 'Check that visitors are human',
    TurnstileSiteKey: 'Turnstile site key',
    TurnstileSecretKey: 'Turnstile secret key',
    TurnstileVerifyURL: 'Turnstile verification address',
    PayAddress: 'Payment gateway address',
    EpayId: 'Epay merchant ID',
    EpayKey: 'Epay merchant key',
    Price: 'Price of one dollar of quota',
    MinTopUp: 'Minimum top-up',
    TopUpCodes: 'Top-up codes',
    TopUpLink: 'Link to buy quota',
    StripeApiKey: 'API key',
    StripeWebhookSecret: 'Webhook secret',
    StripePrice: 'Stripe price of one dollar of quota',
    StripeCurrency: 'Currency',
    SystemName: 'Name of this site',
    Logo: 'Logo address',
    'general_setting.docs_link': 'Link to the documentation',
    Footer: 'Footer',
    DefaultCollapseSidebar: 'Collapse the sidebar by default',
    Notice: 'Notice',
    HomePageContent: 'Home page',
    About: 'About page',
    DataExportEnabled: 'Dashboard',
    DataExportInterval: 'Refresh interval of the dashboard',
    DisplayTokenStatEnabled: 'Keys look up their own quota',
    DataExportDefaultTime: 'Default time step of the dashboard',
    DrawingEnabled: 'Drawing',
    MjNotifyEnabled: 'Callbacks of the drawing service',
    MjAccountFilterEnabled: 'Let callers choose drawing accounts',
    MjForwardUrlEnabled: 'Serve drawings through this site',
    MjModeClearEnabled: 'Drop --fast, --relax and --turbo from prompts',
    MjActionCheckSuccessEnabled: 'Allow follow-ups only for finished drawings',
    TaskEnabled: 'Music tasks',
    OpenTasksMax: 'Unfinished tasks per user',
    UpdateCheckUrl: 'Address of the latest release',
    UpdateCheckEnabled: 'Check when the settings are opened',
    BatchFilesGigabytesPerUser: 'Files for batches per user (GB)',
  },
  help: {
    PreConsumedQuota:
      'At least this quota is held for each answer if the request sets no output limit.',
    QuotaRemindThreshold:
      'This default applies to users who have not set a threshold. 0 sends no reminders.',
    QuotaPerUnit:
      'Do not change this lightly: all existing balances and all prices are based on it. The ' +
      'default is 500000.',
    DisplayInCurrencyEnabled:
      'If this is off, quota is shown in units, and in k, M or B from ten thousand on.',
    CheckInMaxQuota: 'It cannot be below the minimum. 0 always gives the minimum.',
    Chats:
      'This is a list of names and links, such as ' +
      '[{"client":"https://chat.example.com/?key={key}"}].',
    ChatLink:
      '/chat2link redirects to this https address with a token. If the address has no {key}, the ' +
      'settings are appended in the usual format.',
    ChatLink2:
      'This is another client in the menu of a token. /chat2link also uses it if there is no ' +
      'chat link.',
    GroupRatio: 'Each entry maps a group to a ratio. All prices are multiplied by it.',
    UserUsableGroups:
      'Each entry maps a group to a description. Users can choose these groups for a new token.',
    GroupGroupRatio:
      'Each entry maps the group of a user and the group of the token to a ratio. It replaces ' +
      'the ratio of the token’s group.',
    GroupColors:
      'Each entry maps a group to the colour of its badge: grey, blue, cyan, green, yellow, ' +
      'orange, red, pink, purple.',
    ModelPrice:
      'Each entry maps a model to a price per call in dollars. It takes precedence over ratios. ' +
      'For a model of videos, it is the price per second; for Hailuo, the price of 6 seconds. ' +
      'Without built-in ratios, it is that of the lowest resolution in the standard mode without ' +
      'sound.',
    ModelRatio:
      'Each entry maps a model to a ratio. A ratio of 1 equals $2 per million input tokens.',
    CompletionRatio: 'Each entry maps a model to its output price divided by its input price.',
    ImageCompletionRatio:
      'Each entry maps a model to its price of images in answers divided by its input price. ' +
      'Images of other models cost the same as text.',
    CacheRatio:
      'Each entry maps a model to the share of the price that is charged for input read from the ' +
      'cache.',
    ContextTierRatio:
      'Each entry maps a model to its tiers. Above above_input_tokens, all input prices of the ' +
      'call are multiplied by input_ratio and all output prices by output_ratio. An empty list ' +
      'removes the built-in tiers of a model.',
    ToolPrice:
      'The price of 1,000 uses in dollars. “web_search:gpt-4o*” applies to the models that start ' +
      'with gpt-4o. Only channels that allow provider tools can incur these prices.',
    MaxOutputTokens:
      'Each entry maps a model to the maximum output tokens of one answer, reasoning included. ' +
      'This is held if the request sets no limit.',
    'gemini.safety_settings':
      'Each entry maps a category to a threshold, such as {"default":"OFF"}. The entry default ' +
      'applies to all other categories. Settings in a request take precedence.',
    'gemini.version_settings':
      'Each entry maps a model to a version, such as {"default":"v1beta"}. The entry default ' +
      'applies to all other models. A version in the address of a channel takes precedence.',
    'gemini.supported_imagine_models':
      'This is a list of model names. They answer with text and images unless a request says ' +
      'otherwise.',
    'gemini.models_supported_thinking_budget':
      'This is a list of model names. -thinking sets their budget by the share; other models ' +
      'decide themselves. If it is empty, the models of Gemini 2.5 have a budget.',
    'gemini.thinking_adapter_enabled':
      'Thinking is controlled by the end of a model’s name: -thinking, -thinking-<budget>, ' +
      '-nothinking, and -minimal to -high for Gemini 3.',
    'gemini.thinking_adapter_budget_tokens_percentage':
      'This is the share of the maximum output tokens, from 0.002 to 1.',
    'claude.model_headers_settings':
      'Each entry maps a model to headers, such as ' +
      '{"claude-x":{"anthropic-beta":["output-128k"]}}. Betas are added to those of the caller.',
    'claude.default_max_tokens':
      'Each entry maps a model to the max_tokens of requests without a limit that are sent to ' +
      'Anthropic channels. The entry default applies to all other models.',
    'claude.thinking_adapter_enabled':
      'Model names that end in -thinking, -thinking-2048, -nothinking or an effort such as ' +
      '-high set how much the model thinks.',
    'claude.thinking_adapter_budget_tokens_percentage':
      'This is the share of max_tokens, from 0.1 to 1.',
    BatchRatio:
      'The price of a request in a batch is multiplied by this ratio, from 0 to 1. It does not ' +
      'apply to the fees of the provider’s tools.',
    DefaultMaxOutputTokens:
      'This is held for models that are not in the table above. If a stream exceeds it, more is ' +
      'held until the balance is used up.',
    PresetRatioUrl:
      'This address contains <source>/prompt.json, completion.json and max_output.json. If it is ' +
      'empty, the built-in lists are used.',
    ModelRequestRateLimitCount: 'Failed calls are included. 0 or -1 means no limit.',
    ModelRequestRateLimitSuccessCount:
      'Only successful calls are counted. The value must be at least 1.',
    ModelRequestRateLimitTokensPerMinute:
      'Input and output are counted together, independently of the period. 0 means no limit.',
    RateLimitsByGroup:
      'A JSON object such as {"vip": {"calls": 0, "successes": 1000, "tokensPerMinute": 0, ' +
      '"concurrency": 5}}. The limits apply to each user of the group, in place of those above. ' +
      '0 means no limit.',
    RateLimitsByModel:
      'A JSON object such as {"gpt-5": {"calls": 60, "tokensPerMinute": 100000}}. The limits ' +
      'apply to each user’s calls of the model, in addition to all others. Videos, responses of ' +
      'realtime sessions, fallback models and each line of a batch count as calls. A batch with ' +
      'more lines than the period allows is refused. 0 means no limit.',
    'global.pass_through_request_enabled':
      'Requests are serialized again as they were read, and then forwarded. Parameter overrides ' +
      'of channels do not apply, but model mappings do.',
    'global.hide_upstream_error_enabled': 'Callers see only a general error message.',
    'general_setting.ping_interval_enabled':
      'This keeps proxies in between from closing connections that wait.',
    'global.block_browser_extension_enabled':
      'Browser extensions are recognized by their Origin header.',
    StoreConvertedResponsesEnabled:
      'Prompts and answers of converted calls of the Responses API are stored for 7 days, ' +
      'encrypted with the user’s key, unless a request has "store": false. Clients need this if ' +
      'they refer to earlier responses or items by id, such as the package ai by default.',
    RetryTimes:
      'This is how often a call that failed before its first byte is retried on another channel.',
    ModelFallbacks:
      'A JSON object such as {"gpt-5": ["gpt-5-mini"]}. If no channel of a model can answer, ' +
      'the listed models are tried in this order. The call is charged at the price of the model ' +
      'that answers.',
    AutoGroups:
      'A JSON array such as ["default", "vip"]. A token of the group “auto” uses the first of ' +
      'these groups that can answer, and then the next. The call is charged at the ratio of the ' +
      'group that answers. To offer it, add “auto” to the groups that users may choose.',
    AutomaticDisableChannelEnabled:
      'If this is off, failing keys are not disabled either. It affects only channels with ' +
      '“Disable automatically” turned on. The last channel of a model in a group is never ' +
      'disabled.',
    AutomaticEnableChannelEnabled:
      'Only channels that were disabled automatically are enabled again, once a scheduled test ' +
      'succeeds. Turn on scheduled tests, too.',
    ChannelDisableThreshold:
      'A scheduled test that takes longer is slow. Several slow tests in a row disable the ' +
      'channel. 0 means no limit.',
    AutomaticDisableKeywords:
      'Enter one keyword per line. Keywords are compared only with the fields of provider ' +
      'errors, never with the content of answers.',
    'session_affinity.enabled':
      'The calls of a session use the same channel and key as long as they work, so that the ' +
      'provider’s cache is used. Calls without a session are spread by weight.',
    'channel_health.circuit_enabled':
      'The last remaining channel of a model is never blocked completely.',
    'channel_health.circuit_cooldown_seconds':
      'It doubles after each failed probe. A Retry-After of the provider takes precedence.',
    'channel_health.disable_failures':
      'Rejected keys, rejected accounts and matching keywords are counted. A success in between ' +
      'resets the count.',
    'channel_health.slow_tests':
      'Only scheduled tests are counted; see “Maximum response time of a test”. A test within ' +
      'the limit resets the count.',
    'channel_health.test_enabled': 'Tests send requests to providers, which can incur costs.',
    StopOnSensitiveEnabled:
      'A stream stops before the word; its input and the output so far are charged. Any other ' +
      'answer, a result of a batch, or a text of a task is withheld and charged.',
    SensitiveWords: 'Enter one word per line.',
    ServerAddress:
      'This public address is used in integration code. If it is empty, the current address is ' +
      'used.',
    SelfUseModeEnabled:
      'Registration is hidden. Models without a price are charged at a ratio of 37.5.',
    EmailDomainWhitelist: 'Enter one domain per line, such as example.com.',
    SMTPServer: 'An address in a private network must be listed in PRIVATE_UPSTREAMS.',
    SMTPSSLEnabled: 'This is usually used with port 465.',
    SMTPFrom: 'If it is empty, the SMTP account is used.',
    'oidc.well_known':
      'This address is required and ends in /.well-known/openid-configuration. Endpoints below ' +
      'that are empty are taken from it.',
    TurnstileCheckEnabled:
      'It takes effect once the site key and the secret key are set. Requests that cannot be ' +
      'verified are refused.',
    TurnstileVerifyURL: 'If it is empty, the official siteverify address is used.',
    PayAddress: 'This is an Epay gateway. If it is empty, the gateway is not used.',
    EpayKey: 'If it is empty, the gateway is disabled and its callbacks are refused.',
    Price: 'The price is in CNY and is paid through the payment gateway.',
    TopUpCodes:
      'Each entry maps a code to a price factor: 0.9 takes 10% off. The quota stays the same, ' +
      'and a code can be used repeatedly.',
    TopUpLink: 'This can be the link to a shop that sells redemption codes.',
    StripeApiKey: 'If it is empty, Stripe is disabled.',
    StripeWebhookSecret:
      'Enable the events checkout.session.completed, ' +
      'checkout.session.async_payment_succeeded, charge.refunded, refund.created, ' +
      'refund.updated, refund.failed and all five of charge.dispute.*. ' +
      'Without the events of refunds and disputes, no quota is taken back automatically. ' +
      'If it is empty, Stripe is disabled and its callbacks are refused.',
    SystemName: 'It is shown in the title bar and on the login page.',
    'general_setting.docs_link': 'This is the external documentation in the top bar.',
    Footer: 'The footer can contain HTML. Scripts are removed before it is shown.',
    HomePageContent: 'If it is empty, the default home page is shown.',
    DisplayTokenStatEnabled: 'Otherwise, a key looks up the quota of its user.',
    DataExportInterval:
      'While the live connection is interrupted, the dashboard is read again at this interval.',
    DataExportDefaultTime:
      'The dashboard opens with this time step. Its range follows: 24 hours, 30 days or 90 days.',
    BatchFilesGigabytesPerUser:
      'Uploads and results of batches together. Further uploads are refused. 0 sets no limit. ' +
      'Providers keep the files in the accounts of your keys.',
    OpenTasksMax:
      'Drawing and music tasks are counted together. Tasks beyond the limit are answered with ' +
      '429. The provider is asked about each task every few seconds.',
    UpdateCheckUrl:
      'It answers with JSON: tag_name is the version, and body contains the release notes.',
    UpdateCheckEnabled: 'The check runs at most once a day.',
  },
  choice: {
    DataExportDefaultTime: { hour: 'Hour', day: 'Day', week: 'Week' },
  },
  bounds: {
    RebatePercentage: 'The rebate share must be between 0 and 100',
  },
  confirm: {
    PasswordLoginEnabled: {
      false:
        'Users without another login method, admins included, can no longer sign in. Turn it off?',
    },
  },
}
