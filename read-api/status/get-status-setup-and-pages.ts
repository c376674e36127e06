import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { siteState } from '#projections/options/query.ts'
import { statusQueries } from '../contract/status.ts'
import { type CurrentOptions, currentOptions } from '../options/current-options.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'
import {
  createOidcAuthorizationEndpoint,
  type OidcAuthorizationEndpoint,
} from './discover-oidc-authorization-endpoint.ts'

const PACKAGE = join(import.meta.dirname, '../../package.json')

/** `GET /api/status`: the public information about the site and its settings. */
export function getStatus(app: App, deps: ReadDeps): void {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }
  const startTime = Math.floor(deps.core.now() / 1_000)
  const oidcEndpoint = createOidcAuthorizationEndpoint(deps.core)
  app.addHook('onClose', oidcEndpoint.close)
  app.route({
    ...endpoint(statusQueries, 'GET /api/status'),
    preHandler: upToDate(deps, 'options', 'channels'),
    handler: async () => {
      const options = await currentOptions(deps.core)
      const { hasVideos } = await deps.readPriceUnits()
      return success({
        version,
        start_time: startTime,
        ...siteFields(options),
        ...screenFields(options),
        enable_video: hasVideos,
        ...loginFields(options, oidcEndpoint),
      })
    },
  })
}

const siteFields = (options: CurrentOptions) => ({
  system_name: options.text('SystemName') || 'Tallygate',
  logo: options.text('Logo'),
  footer_html: options.text('Footer'),
  server_address: options.text('ServerAddress'),
  docs_link: options.text('general_setting.docs_link'),
  quota_per_unit: options.number('QuotaPerUnit') || 500_000,
  display_in_currency: options.flag('DisplayInCurrencyEnabled'),
  ...topUpFields(options),
  self_use_mode_enabled: options.isSelfUse,
  demo_site_enabled: options.isDemoSite,
  setup: options.isInitialised,
})

/**
 * Returns the fields about top-ups. A payment method is included only if all settings that it needs
 * are set.
 */
const topUpFields = (options: CurrentOptions) => {
  const methods = [
    ...(offersEpay(options) ? (['zfb', 'wx'] as const) : []),
    ...(offersStripe(options) ? (['stripe'] as const) : []),
  ]
  return {
    min_topup: options.number('MinTopUp') || 1,
    enable_online_topup: methods.length > 0,
    topup_methods: methods,
    top_up_link: options.text('TopUpLink'),
    rebate_percentage: options.flag('RebateEnabled') ? options.text('RebatePercentage') : '0',
  }
}

const screenFields = (options: CurrentOptions) => ({
  enable_drawing: options.flag('DrawingEnabled'),
  enable_task: options.flag('TaskEnabled'),
  group_colors: Object.fromEntries(
    [...options.members('GroupColors')].map(([name, color]) => [name, String(color)]),
  ),
  enable_data_export: options.flag('DataExportEnabled'),
  chats: chatsOf(options.text('Chats')),
  data_export_default_time: options.text('DataExportDefaultTime') || 'hour',
  data_export_interval: options.number('DataExportInterval') || 5,
  default_collapse_sidebar: options.flag('DefaultCollapseSidebar'),
  mj_notify_enabled: options.flag('MjNotifyEnabled'),
  chat_link: options.text('ChatLink'),
  chat_link2: options.text('ChatLink2'),
  aff_enabled: options.flag('AffEnabled'),
  check_in_enabled: options.flag('CheckInEnabled'),
})

/**
 * Returns the fields about login methods. Most login methods are shown as available only if they
 * are enabled and the settings that they need are set.
 */
const loginFields = (options: CurrentOptions, oidcEndpoint: OidcAuthorizationEndpoint) => ({
  turnstile_check: hasHumanCheck(options),
  turnstile_site_key: options.text('TurnstileSiteKey'),
  github_oauth: options.flag('GitHubOAuthEnabled') && options.text('GitHubClientId') !== '',
  github_client_id: options.text('GitHubClientId'),
  oidc_enabled: offersOidc(options),
  oidc_client_id: options.text('oidc.client_id'),
  oidc_authorization_endpoint:
    options.text('oidc.authorization_endpoint') ||
    (offersOidc(options) ? oidcEndpoint.of(options.text('oidc.well_known')) : ''),
  linuxdo_oauth: options.flag('LinuxDOOAuthEnabled') && options.text('LinuxDOClientId') !== '',
  linuxdo_client_id: options.text('LinuxDOClientId'),
  telegram_oauth: offersTelegram(options),
  telegram_bot_name: options.text('TelegramBotName'),
  wechat_login: offersWeChat(options),
  wechat_qrcode: options.text('WeChatAccountQRCodeImageURL'),
  email_verification: options.flag('EmailVerificationEnabled'),
  password_login_enabled: options.flag('PasswordLoginEnabled'),
  password_register_enabled: options.flag('PasswordRegisterEnabled'),
  register_enabled: options.flag('RegisterEnabled') && !options.isSelfUse,
})

/**
 * Reports whether users can pay with Epay. Epay needs an address, an id, a secret and the server
 * address of the site. NOTE: The write API applies the same rule.
 */
export const offersEpay = (options: CurrentOptions): boolean =>
  options.text('PayAddress') !== '' &&
  options.text('EpayId') !== '' &&
  options.hasSecret('EpayKey') &&
  options.text('ServerAddress') !== ''

const offersStripe = (options: CurrentOptions): boolean =>
  options.hasSecret('StripeApiKey') &&
  options.hasSecret('StripeWebhookSecret') &&
  options.text('ServerAddress') !== ''

const offersOidc = (options: CurrentOptions): boolean =>
  options.flag('oidc.enabled') && options.text('oidc.client_id') !== ''

export const offersTelegram = (options: CurrentOptions): boolean =>
  options.flag('TelegramOAuthEnabled') && options.text('TelegramBotName') !== ''

export const offersWeChat = (options: CurrentOptions): boolean =>
  options.flag('WeChatAuthEnabled') && options.text('WeChatServerAddress') !== ''

/**
 * Reports whether users must solve a CAPTCHA (Cloudflare Turnstile), which needs two keys. NOTE:
 * The write API applies the same rule.
 */
export const hasHumanCheck = (options: CurrentOptions): boolean =>
  options.flag('TurnstileCheckEnabled') &&
  options.text('TurnstileSiteKey') !== '' &&
  options.hasSecret('TurnstileSecretKey')

/**
 * Parses a JSON list of objects that map names to links. Other elements of the list are left out.
 * Returns an empty list if the text is invalid.
 */
export function chatsOf(text: string): Record<string, string>[] {
  try {
    const list: unknown = JSON.parse(text)
    if (!Array.isArray(list)) return []
    return list.filter(
      (entry): entry is Record<string, string> =>
        typeof entry === 'object' &&
        entry !== null &&
        Object.values(entry).every((link) => typeof link === 'string'),
    )
  } catch {
    return []
  }
}

/** `GET /api/setup`: whether the site has been set up. */
export function getSetup(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(statusQueries, 'GET /api/setup'),
    preHandler: upToDate(deps, 'options'),
    handler: async () => {
      const isInitialised = (await siteState(deps.core.db)).rootUserId !== null
      return success({
        status: isInitialised,
        root_init: isInitialised,
        database_type: 'postgres',
      })
    },
  })
}

const PAGES = [
  ['GET /api/notice', 'Notice'],
  ['GET /api/about', 'About'],
  ['GET /api/home_page_content', 'HomePageContent'],
] as const

/**
 * `GET /api/notice`, `GET /api/about` and `GET /api/home_page_content`: the texts that the operator
 * has written for public pages.
 */
export function getPages(app: App, deps: ReadDeps): void {
  for (const [name, option] of PAGES) {
    app.route({
      ...endpoint(statusQueries, name),
      preHandler: upToDate(deps, 'options'),
      handler: async () => success((await currentOptions(deps.core)).text(option)),
    })
  }
}
