import Type, { type Static } from 'typebox'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'
import { PaymentMethod } from './top-ups.ts'

export const Status = Type.Object({
  system_name: Type.String(),
  logo: Type.String(),
  footer_html: Type.String(),
  quota_per_unit: Type.Number(),
  display_in_currency: Type.Boolean(),
  enable_drawing: Type.Boolean(),
  enable_task: Type.Boolean(),
  /**
   * True if at least one channel makes videos. Videos have no option of their own. Disabled
   * channels count too, because their earlier videos are still listed.
   */
  enable_video: Type.Boolean(),
  enable_data_export: Type.Boolean(),
  chats: Type.Array(Type.Record(Type.String(), Type.String())),
  data_export_default_time: Type.String(),
  /** The interval in minutes at which the dashboard refreshes its figures. */
  data_export_interval: Type.Integer(),
  default_collapse_sidebar: Type.Boolean(),
  mj_notify_enabled: Type.Boolean(),
  chat_link: Type.String(),
  chat_link2: Type.String(),
  docs_link: Type.String(),
  server_address: Type.String(),
  version: Type.String(),
  /** The time at which the server started, in Unix seconds. */
  start_time: Type.Integer(),
  aff_enabled: Type.Boolean(),
  check_in_enabled: Type.Boolean(),
  turnstile_check: Type.Boolean(),
  turnstile_site_key: Type.String(),
  github_oauth: Type.Boolean(),
  github_client_id: Type.String(),
  oidc_enabled: Type.Boolean(),
  oidc_client_id: Type.String(),
  /**
   * The authorization endpoint of the OpenID provider, from the options or from the provider's
   * discovery document. Empty if the endpoint is unknown.
   */
  oidc_authorization_endpoint: Type.String(),
  linuxdo_oauth: Type.Boolean(),
  linuxdo_client_id: Type.String(),
  telegram_oauth: Type.Boolean(),
  telegram_bot_name: Type.String(),
  wechat_login: Type.Boolean(),
  wechat_qrcode: Type.String(),
  email_verification: Type.Boolean(),
  password_login_enabled: Type.Boolean(),
  password_register_enabled: Type.Boolean(),
  register_enabled: Type.Boolean(),
  min_topup: Type.Integer(),
  enable_online_topup: Type.Boolean(),
  topup_methods: Type.Array(PaymentMethod),
  /** The address of an external site where users can buy quota. Empty if there is none. */
  top_up_link: Type.String(),
  /** The part of each top-up that the inviting user receives, in percent. 0 if rebates are off. */
  rebate_percentage: Type.String(),
  self_use_mode_enabled: Type.Boolean(),
  demo_site_enabled: Type.Boolean(),
  /** The colour of each group's badge. Groups without an entry have the default colour. */
  group_colors: Type.Record(Type.String(), Type.String()),
  /** False until the setup page has created the super admin. */
  setup: Type.Boolean(),
})
export type Status = Static<typeof Status>

const SetupStatus = Type.Object({
  status: Type.Boolean(),
  root_init: Type.Boolean(),
  database_type: Type.String(),
})

export const LatestRelease = Type.Object({
  current: Type.String(),
  /**
   * The latest available version. Empty if the request does not force a check, and either the
   * options contain no address for releases or the automatic check is disabled.
   */
  latest: Type.String(),
  notes: Type.String(),
  is_newer: Type.Boolean(),
  /**
   * The time at which the latest version was last requested, in Unix seconds. 0 if `latest` is
   * empty.
   */
  checked_at: Type.Integer(),
})
export type LatestRelease = Static<typeof LatestRelease>

export const statusQueries = {
  'GET /api/notice': {
    summary: 'Get the notice, Markdown or HTML; empty for none',
    response: { 200: Envelope(Type.String()) },
  },
  'GET /api/about': {
    summary: 'Get the about page, Markdown or HTML; empty for the default one',
    response: { 200: Envelope(Type.String()) },
  },
  'GET /api/home_page_content': {
    summary: 'Get the home page; empty for the default one',
    response: { 200: Envelope(Type.String()) },
  },
  'GET /api/status': { response: { 200: Envelope(Status) } },
  'GET /api/setup': { response: { 200: Envelope(SetupStatus) } },
  'GET /api/option/latest_release': {
    querystring: Type.Object({ is_forced: Query.flag }),
    response: { 200: Envelope(LatestRelease) },
  },
}
