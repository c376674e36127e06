import { expect, it } from 'vitest'
import { OPTIONS } from '#domain/options/option-registry.ts'

/** All options that the three specifications and `billing.md` name, by tab. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  operation: [
    ...['QuotaForNewUser', 'QuotaForInviter', 'QuotaForInvitee', 'QuotaRemindThreshold'],
    ...['PreConsumedQuota', 'StreamCacheQueueLength', 'QuotaPerUnit', 'DisplayInCurrencyEnabled'],
    ...['ModelRatio', 'CacheRatio', 'CompletionRatio', 'ModelPrice', 'GroupRatio'],
    ...['UserUsableGroups', 'CreateCacheRatio', 'ImageRatio', 'AudioRatio'],
    ...['AudioCompletionRatio', 'fallback_pricing_enabled', 'fallback_single_price'],
    ...['fallback_input_ratio', 'fallback_completion_ratio', 'Chats', 'ChatLink', 'ChatLink2'],
    ...['CheckInEnabled', 'CheckInQuota', 'CheckInMaxQuota', 'RebateEnabled'],
    ...['RebatePercentage', 'AffEnabled'],
  ],
  ratelimit: [
    ...['ModelRequestRateLimitEnabled', 'ModelRequestRateLimitCount'],
    ...['ModelRequestRateLimitSuccessCount', 'ModelRequestRateLimitDurationMinutes'],
  ],
  models: [
    ...['global.pass_through_request_enabled', 'global.hide_upstream_error_enabled'],
    ...['global.block_browser_extension_enabled', 'global.rate_limit_exempt_enabled'],
    ...['global.rate_limit_exempt_group', 'global.safe_check_exempt_enabled'],
    ...['global.safe_check_exempt_group', 'general_setting.ping_interval_enabled'],
    ...['general_setting.ping_interval_seconds', 'RetryTimes', 'ChannelDisableThreshold'],
    ...['AutomaticDisableKeywords', 'SensitiveWords', 'gemini.safety_settings'],
    ...['gemini.version_settings', 'gemini.supported_imagine_models'],
    ...['gemini.thinking_adapter_enabled', 'gemini.models_supported_thinking_budget'],
    'gemini.thinking_adapter_budget_tokens_percentage',
    ...['claude.model_headers_settings', 'claude.thinking_adapter_enabled'],
    ...['claude.default_max_tokens', 'claude.thinking_adapter_budget_tokens_percentage'],
  ],
  system: [
    ...['ServerAddress', 'SelfUseModeEnabled', 'DemoSiteEnabled', 'PasswordLoginEnabled'],
    ...['PasswordRegisterEnabled', 'RegisterEnabled', 'EmailVerificationEnabled', 'SMTPServer'],
    ...['SMTPPort', 'SMTPAccount', 'SMTPFrom', 'SMTPToken', 'GitHubOAuthEnabled'],
    ...['GitHubClientId', 'GitHubClientSecret', 'oidc.enabled', 'oidc.client_id'],
    ...['oidc.client_secret', 'oidc.authorization_endpoint', 'LinuxDOOAuthEnabled'],
    ...['LinuxDOClientId', 'LinuxDOClientSecret', 'TelegramOAuthEnabled', 'TelegramBotName'],
    ...['TelegramBotToken', 'WeChatAuthEnabled', 'WeChatServerAddress', 'WeChatServerToken'],
    ...['WeChatAccountQRCodeImageURL', 'TurnstileCheckEnabled', 'TurnstileSiteKey'],
    ...['TurnstileSecretKey', 'Price', 'MinTopUp', 'TopUpLink', 'PayAddress', 'EpayId', 'EpayKey'],
  ],
  other: [
    ...['SystemName', 'Logo', 'Footer', 'About', 'HomePageContent', 'general_setting.docs_link'],
    ...['DefaultCollapseSidebar', 'DrawingEnabled', 'TaskEnabled', 'DataExportEnabled'],
    ...['DataExportDefaultTime', 'DataExportInterval', 'MjNotifyEnabled'],
    ...['UpdateCheckEnabled', 'UpdateCheckUrl'],
  ],
}

const ROWS = Object.entries(NAMED).flatMap(([tab, keys]) => keys.map((key) => [key, tab] as const))

it.each(ROWS)('option %s is on the tab %s', (key, tab) => {
  expect(OPTIONS.get(key)?.tab).toBe(tab)
})

it.each([
  ['QuotaPerUnit', '500000'],
  ['ModelRequestRateLimitDurationMinutes', '1'],
  ['ModelRequestRateLimitSuccessCount', '1000'],
  ['ModelRequestRateLimitCount', '0'],
  ['general_setting.ping_interval_seconds', '60'],
  ['gemini.thinking_adapter_budget_tokens_percentage', '0.6'],
  ['claude.thinking_adapter_budget_tokens_percentage', '0.8'],
  ['claude.thinking_adapter_enabled', 'true'],
  ['global.rate_limit_exempt_group', 'bulk-ok'],
  ['global.safe_check_exempt_group', 'nsfw-ok'],
  ['Price', '7.3'],
  ['MinTopUp', '1'],
  ['SMTPPort', '587'],
  ['UpdateCheckEnabled', 'false'],
])('option %s has the default %s', (key, preset) => {
  expect(OPTIONS.get(key)?.defaultText).toBe(preset)
})

it.each([
  ['QuotaForNewUser', '0'],
  ['CheckInQuota', '0'],
  ['ModelRequestRateLimitSuccessCount', '1'],
  ['ModelRequestRateLimitCount', '-1'],
  ['general_setting.ping_interval_seconds', '1'],
  ['fallback_single_price', '0'],
  ['fallback_input_ratio', '0'],
  ['RebatePercentage', '0'],
  ['gemini.thinking_adapter_budget_tokens_percentage', '0.002'],
  ['claude.thinking_adapter_budget_tokens_percentage', '0.1'],
])('option %s has the minimum %s', (key, minimum) => {
  const type = OPTIONS.get(key)?.type
  expect(type !== undefined && 'minimum' in type ? String(type.minimum) : null).toBe(minimum)
})
