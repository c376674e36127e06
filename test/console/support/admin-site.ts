import type { Page } from 'playwright-core'
import type { Token } from '#read-api/contract/tokens.ts'
import { schemaResponse } from '#read-api/options/option-routes.ts'
import { OPEN_TOKEN_FIELDS } from '#test/support/token-fields.ts'
import { channelRoutes } from './channel-routes.ts'
import {
  BLANK_PATH,
  type FakeRoutes,
  type FakeSite,
  ok,
  STATUS,
  startFakeSite,
} from './fake-site.ts'
import { userRoutes } from './user-routes.ts'

const NOW = Math.floor(Date.now() / 1000)

export const token = (patch: Partial<Token>): Token => ({
  id: 1,
  user_id: 1,
  name: 'production',
  key: `Xk9${'q'.repeat(40)}7Hd2`,
  status: 1,
  remain_quota: 4_321_000,
  used_quota: 679_000,
  created_time: NOW - 864_000,
  accessed_time: NOW - 42,
  ...OPEN_TOKEN_FIELDS,
  ...patch,
})

export const TOKENS = [
  token({}),
  token({
    id: 2,
    name: 'mobile app',
    remain_quota: 12_000,
    used_quota: 488_000,
    model_limits_enabled: true,
    model_limits: 'gpt-4o-mini,o3',
    group: 'vip',
    expired_time: NOW + 86_400 * 3,
  }),
  token({ id: 3, name: 'batch jobs', unlimited_quota: true, accessed_time: 0 }),
  token({ id: 4, name: 'old laptop', status: 2, accessed_time: NOW - 9_000_000 }),
  token({ id: 5, name: 'trial', status: 3, expired_time: NOW - 7_200 }),
  token({ id: 6, name: 'demo', status: 4, remain_quota: 0, used_quota: 500_000 }),
]

const SCHEMA = schemaResponse()

export const OPTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SCHEMA.options.map(({ key, default: text }) => [key, text])),
  ModelRatio: '{"gpt-4o":1.25,"gpt-4o-mini":0.075,"deepseek-chat":0.14,"o3":1}',
  CompletionRatio: '{"gpt-4o":4,"gpt-4o-mini":4,"deepseek-chat":1.5}',
  CacheRatio: '{"gpt-4o":0.5}',
  ModelPrice: '{"dall-e-3":0.04}',
  GroupRatio: '{"default":1,"vip":0.8}',
  UserUsableGroups: '{"default":"Default","vip":"VIP"}',
  fallback_pricing_enabled: 'false',
  fallback_single_price: '',
  fallback_input_ratio: '',
  fallback_completion_ratio: '',
  SMTPToken: '***',
}

const CHANGES = [
  {
    id: 91,
    section: 'global',
    key: 'global.hide_upstream_error_enabled',
    before: 'false',
    after: 'true',
    actor: 'user:1',
    username: 'root',
    changed_at: NOW - 600,
  },
  {
    id: 12,
    section: 'global',
    key: 'global.rate_limit_exempt_group',
    before: null,
    after: 'bulk-ok',
    actor: 'system:setup',
    username: '',
    changed_at: NOW - 864_000,
  },
]

/** The logged-in super admin, as stored in the browser. */
export const ROOT_USER = {
  id: 1,
  username: 'root',
  display_name: 'Root',
  role: 100,
  status: 1,
  group: 'default',
}

const page = <Row>(items: readonly Row[]) => ok({ items, page: 0, total: items.length })

const READS: FakeRoutes = {
  'GET /api/status': () => ok({ ...STATUS, setup: true }),
  'GET /api/setup': () => ok({ status: true, root_init: true, database_type: 'postgres' }),
  'GET /api/user/self': () => ok({ ...ROOT_USER, quota: 50_000_000, used_quota: 0 }),
  'GET /api/user/self/groups': () =>
    ok({
      default: { desc: 'Default', ratio: 1, color: '' },
      vip: { desc: 'VIP', ratio: 0.8, color: 'purple' },
    }),
  'GET /api/user/models': () => ok(['gpt-4o', 'gpt-4o-mini', 'o3']),
  'GET /api/group/': () => ok(['default', 'vip']),
}

/**
 * Starts the built console with an in-memory API of tokens, channels, users and options. `routes`
 * adds or replaces routes.
 */
export async function startAdminSite(routes: FakeRoutes = {}): Promise<FakeSite> {
  const tokens = [...TOKENS]
  const options = { ...OPTIONS }
  return startFakeSite({
    ...READS,
    ...channelRoutes(),
    ...userRoutes(),
    'GET /api/token/': () => page(tokens),
    'GET /api/token/search': ({ query }) =>
      page(tokens.filter(({ name }) => name.includes(query.get('keyword') ?? ''))),
    'POST /api/token/': ({ body }) => {
      const { count = 1, ...terms } = body as Partial<Token> & { count?: number }
      const made = Array.from({ length: count }, (_, n) => {
        const name = n === 0 ? (terms.name ?? '') : `${terms.name}-suffix`
        return token({ ...terms, name, id: tokens.length + 1 + n, used_quota: 0 })
      })
      tokens.unshift(...made)
      const [ids, names, keys] = [
        made.map((m) => m.id),
        made.map((m) => m.name),
        made.map((m) => m.key),
      ]
      return ok({ id: ids[0], name: names[0], key: keys[0], ids, names, keys })
    },
    'PUT /api/token/': ({ body }) => {
      const change = body as Partial<Token>
      const index = tokens.findIndex(({ id }) => id === change.id)
      tokens[index] = { ...tokens[index], ...change } as Token
      return ok(tokens[index])
    },
    'POST /api/token/batch/status': ({ body }) => {
      const { ids, status } = body as { ids: number[]; status: number }
      for (const [at, one] of tokens.entries()) {
        if (ids.includes(one.id)) tokens[at] = { ...one, status }
      }
      return ok(null)
    },
    'POST /api/token/batch': ({ body }) => {
      const { ids } = body as { ids: number[] }
      const kept = tokens.filter(({ id }) => !ids.includes(id))
      tokens.splice(0, tokens.length, ...kept)
      return ok(ids.length)
    },
    'GET /api/option/latest_release': () =>
      ok({ current: '0.1.0', latest: '', notes: '', is_newer: false, checked_at: 0 }),
    'GET /api/option/price_units': () => ok({}),
    'GET /api/option/schema': () => ok(SCHEMA),
    'GET /api/option/history': ({ query }) =>
      page(CHANGES.filter(({ section }) => section === query.get('section'))),
    'GET /api/option/': () => ok(Object.entries(options).map(([key, value]) => ({ key, value }))),
    'PUT /api/option/': ({ body }) => {
      const { key, value } = body as { key: string; value: string }
      options[key] = value
      return ok(null)
    },
    ...routes,
  })
}

export async function openAsRoot(opened: Page, site: FakeSite, path: string): Promise<void> {
  await opened.addInitScript(
    (user) => localStorage.setItem('user', user),
    JSON.stringify(ROOT_USER),
  )
  await opened.goto(site.url + path)
  await opened.getByRole('heading', { level: 1 }).waitFor()
}

const UNKNOWN_PATH = '/no-such-page'

/**
 * Opens a page of the console as a link does, if the tab already shows a page of it: components
 * start anew, but the console is not loaded and compiled again.
 */
export async function openByLink(opened: Page, site: FakeSite, path: string): Promise<void> {
  const { origin, pathname } = new URL(opened.url())
  if (origin !== site.url || pathname === BLANK_PATH) return openAsRoot(opened, site, path)
  await followLink(opened, UNKNOWN_PATH)
  await opened.locator('.tg-message-page').waitFor()
  await followLink(opened, path)
  await opened.locator('.tg-message-page').waitFor({ state: 'detached' })
  await opened.getByRole('heading', { level: 1 }).waitFor()
}

const followLink = (opened: Page, path: string): Promise<void> =>
  opened.evaluate((path) => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
