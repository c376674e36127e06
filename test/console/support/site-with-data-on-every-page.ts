import type { LedgerItem, SiteMonth } from '#read-api/contract/ledger.ts'
import type { InboxMessage } from '#read-api/contract/messages.ts'
import type { Order } from '#read-api/contract/top-ups.ts'
import type { LogStatus } from '#read-api/contract/transparency-log.ts'
import {
  correction,
  INTERRUPTED,
  INVOICE_ID,
  INVOICES,
  marginsOf,
  providerInvoiceOf,
  providerInvoiceRequestsOf,
} from '../audit/reconciliation-samples.ts'
import { byCall, byTokens, pricing } from '../pricing/models.ts'
import { REDEMPTIONS } from '../redemptions/redemption-routes.ts'
import { DRAWINGS, SONGS } from '../task-logs/fake-tasks.ts'
import { logRoutes, manyRows } from '../usage-log/fake-usage-log.ts'
import { startAdminSite, TOKENS } from './admin-site.ts'
import { HEALTH_CHANNELS } from './channel-health-samples.ts'
import { type FakeRoutes, type FakeSite, ok, STATUS } from './fake-site.ts'
import { user } from './user-routes.ts'

const NOW = Math.floor(Date.now() / 1_000)
const HOUR = 3_600

const rows = manyRows(60)
const spent = (quota: number) => ({ quota, count: quota / 1_000, token_used: quota / 10 })
const points = Array.from({ length: 20 }, (_, index) => ({
  created_at: NOW - (NOW % HOUR) - index * HOUR,
  model_name: index % 2 === 0 ? 'gpt-4o' : 'gpt-4o-mini',
  ...spent(20_000 + 3_000 * index),
}))

const SELF = user({
  ...{ display_name: 'Root', email: 'root@example.com', request_count: 128_423 },
  ...{ used_quota: 61_250_000, aff_count: 3, aff_quota: 750_000, aff_history_quota: 1_250_000 },
})

const text = '今晚 22:00 至 23:00 维护。The gateway is updated meanwhile. '.repeat(4)
const MESSAGES: readonly InboxMessage[] = [4, 3, 2, 1].map((id) => ({
  ...{ id, title: `Message ${id}`, content: text, format: 'markdown' },
  ...{ created_at: NOW - id * HOUR, read_at: null, is_read: false },
}))
const SENT = MESSAGES.map(({ id, title, content, format, created_at }) => ({
  ...{ id, title, content, format, created_at, updated_at: null },
  stats: { total_recipients: 10_000, read_count: 12 },
}))

const ORDERS: readonly Order[] = [3, 2, 1].map((id) => ({
  ...{ id, user_id: 7, username: 'mia', trade_no: `T${id}X9f3ab27c`, payment_method: 'stripe' },
  ...{ amount: 20, quota: 10_000_000, money: '20.00', currency: 'USD', top_up_code: '' },
  ...{ status: 'paid', payment_id: `pi_3Q${id}`, refundable: '20.00', refunded: '0.00' },
  ...{ refunds: [], restorations: [], reports: [], rebate_quota: 0 },
  ...{ created_at: NOW - id * HOUR, paid_at: NOW - id * HOUR + 40 },
}))

const SESSIONS = [1, 2, 3].map((id) => ({
  ...{ id, ip: '203.0.113.24', user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/143.0.0.0' },
  ...{ started_at: NOW - id * 9 * HOUR, seen_at: NOW - id * HOUR, is_current: id === 1 },
}))
const SECURITY = {
  access_token: { issued_at: NOW - 60 * HOUR, expires_at: NOW + 900 * HOUR },
  ...{ totp_since: NOW - 900 * HOUR, recovery_codes: 8 },
  passkeys: [{ id: 1, name: 'Chrome · Linux', created_at: NOW - 40 * HOUR, used_at: NOW - HOUR }],
}

const MODELS = Array.from({ length: 30 }, (_, n) => byTokens(`gpt-model-${n}`))

const SITE = {
  totals: {
    ...spent(900_000),
    ...{ cost: 360_000, costed_quota: 720_000, failed: 7, users: 2 },
    ...{ input_tokens: 6_000, cache_read_tokens: 1_500, cache_saved: 50_000 },
  },
  top_users: [{ user_id: 7, username: 'mia', ...spent(600_000) }],
  top_models: [{ model_name: 'gpt-4o', ...spent(720_000), cost: 1_000, costed_quota: 2_000 }],
  top_channels: [{ channel_id: 1, name: 'Main', ...spent(9_000), cost: 0, costed_quota: 0 }],
  lag: { head: 500, behind: 12, read_model: 'call-log' },
}

const EVERYTHING = {
  ...{ enable_drawing: true, enable_task: true, aff_enabled: true, check_in_enabled: true },
  ...{ github_oauth: true, wechat_login: true, email_verification: true },
  ...{ enable_online_topup: true, topup_methods: ['stripe'], price: '7.3' },
}

const page = (items: readonly object[]) => () => ok({ items, page: 0, total: items.length })

const FIGURES = { total: 1_200_000, balance: 1_150_000, held: 50_000 }
const MOVEMENTS: readonly LedgerItem[] = Array.from({ length: 30 }, (_, index) => ({
  ...{ position: 900 - index, revision: 300 - index, created_at: NOW - index * HOUR },
  ...{ type: 'call', source: `019b0000-0000-7000-8000-${100_000_000_000 + index}` },
  ...{ amount: -1_000, ...FIGURES, total: FIGURES.total + index * 1_000, actor_id: 0 },
  ...{ reason: 'settled', note: '', model: 'gpt-4o', token_id: 1, channel_id: 1 },
  ...{ actor_name: '', corrected_calls: 0, is_note_erased: false },
}))
const ACCOUNTS = ['mei', '', 'customer-with-a-rather-long-name', 'root'].map((username, index) => ({
  ...{ user_id: 4 - index, username, ...FIGURES },
}))
const SITE_MONTH: SiteMonth = {
  ...{ month: '2026-11', sold: 9_000_000, granted: 500_000, redeemed: 0, refunded: 0 },
  ...{ gifts: 0, adjusted: 500_000, deducted: -9_000, checked_in: 0, transferred: 0 },
  rebates_returned: 0,
  ...{ charged: -700_000, by_type: [], by_channel: [], by_model: [] },
}
const LOG_STATUS: LogStatus = {
  ...{ origin: 'tallygate.local/1', key: 'k', witness_key: 'w' },
  ...{ witnesses: [], refusals: [], quorum: 0 },
  key_rotations: [],
  latest: {
    ...{ size: 900, last_position: 900, root: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=' },
    ...{ note: 'tallygate.local/1\n900\n', created_at: NOW, cosignatures: [], is_final: true },
  },
}

const CORRECTIONS = [INTERRUPTED, correction('c1')]

const CHANNEL_OF_MISMATCH = { channel_id: 3, channel_name: 'Reseller in Frankfurt' }
const MISMATCH = {
  ...CHANNEL_OF_MISMATCH,
  ...{ position: 900, created_at: NOW, user_id: 7 },
  request_id: '0191aa00-1b2c-7000-8000-0123456789ab',
  ...{
    model: 'claude-sonnet-4-5',
    sent_model: 'claude-sonnet-4-5',
    answered_model: 'claude-haiku',
  },
}

const AUDIT: FakeRoutes = {
  'GET /api/ledger/self': () =>
    ok({ opening: FIGURES, closing: FIGURES, items: MOVEMENTS, next_cursor: null }),
  'GET /api/ledger/self/balance': () => ok({ position: 900, at: NOW, ...FIGURES }),
  'GET /api/audit/accounts': () => ok({ items: ACCOUNTS, next_cursor: null }),
  'GET /api/audit/site-month': () => ok(SITE_MONTH),
  'GET /api/audit/calls': () => ok({ items: [MISMATCH], next_cursor: null }),
  'GET /api/audit/other-models': () => ok([{ ...CHANNEL_OF_MISMATCH, count: 1_204, last_at: NOW }]),
  'GET /api/audit/verifications': () => ok({ items: [] }),
  'GET /api/audit/log': () => ok({ items: [], next_cursor: null }),
  'GET /api/audit/corrections': () => ok({ items: CORRECTIONS, next_cursor: null }),
  'GET /api/audit/invoices': () => ok(INVOICES),
  'GET /api/audit/invoices/1': ({ query }) => ok(providerInvoiceOf(query.get('comparison'))),
  [`GET /api/audit/invoices/${INVOICE_ID}/requests`]: ({ query }) =>
    ok({ items: providerInvoiceRequestsOf(query.get('match')), next_cursor: null }),
  'GET /api/audit/margins': ({ query }) =>
    ok(marginsOf({ first: query.get('first_day') ?? '', last: query.get('last_day') ?? '' })),
  'GET /api/audit/events': () => ok({ items: [], next_cursor: null }),
  'GET /api/audit/state/options/site': () => ok({ position: 900, at: NOW, state: {} }),
  'GET /api/transparency-log/status': () => ok(LOG_STATUS),
}

const READS: FakeRoutes = {
  ...AUDIT,
  ...logRoutes(() => rows),
  'GET /api/status': () => ok({ ...STATUS, ...EVERYTHING }),
  'GET /api/notice': () => ok('## Maintenance\n\nTonight from 22:00.'),
  'GET /api/home_page_content': () => ok(''),
  'GET /api/about': () => ok(`# About\n\n${text}`),
  'GET /api/user/self': () => ok(SELF),
  'GET /api/user/models': () => ok(MODELS.map(({ model_name }) => model_name)),
  'GET /api/user/aff': () => ok('abcde23456'),
  'GET /api/user/check_in_status': () => ok({ can_check_in: true }),
  'GET /api/user/sessions': () => ok(SESSIONS),
  'GET /api/user/security': () => ok(SECURITY),
  'GET /api/user/messages': page(MESSAGES),
  'GET /api/user/messages/unread_count': () => ok({ unread_count: MESSAGES.length }),
  'PUT /api/user/messages/1/read': () => ok(null),
  'POST /api/user/amount': () => ({
    body: { success: true, message: 'success', data: '20.00', currency: 'USD' },
  }),
  'GET /api/user/messages/1': () => ok(MESSAGES.at(-1)),
  'GET /api/user/topup': page(ORDERS),
  'GET /api/user/topup/self': page(ORDERS),
  'GET /api/admin/messages': page(SENT),
  'GET /api/admin/messages/1': () => ok(SENT.at(-1)),
  'GET /api/admin/messages/1/recipients': page([]),
  'GET /api/redemption/': page(REDEMPTIONS),
  'GET /api/mj/': page(DRAWINGS),
  'GET /api/mj/self': page(DRAWINGS),
  'GET /api/task/': page(SONGS),
  'GET /api/task/self': page(SONGS),
  'GET /api/token/': page(TOKENS),
  'GET /api/pricing': () => pricing([...MODELS, byCall('image', 0.04)]),
  'GET /api/data/': () => ok(points),
  'GET /api/data/self/': () => ok(points),
  'GET /api/data/self/tokens': () =>
    ok(points.map(({ model_name, ...rest }) => ({ ...rest, token_id: 1, token_name: model_name }))),
  'GET /api/data/site': () => ok(SITE),
  'GET /api/channel/health': () => ok({ at: Date.now(), channels: HEALTH_CHANNELS }),
}

/** Starts a site with data on every page. Each API response is delayed by `delayMs`. */
export async function startWholeSite(delayMs: number): Promise<FakeSite> {
  const site = await startAdminSite()
  const { 'GET /api/channel/': channels } = site.routes
  Object.assign(site.routes, READS, { 'GET /api/channel/': channels })
  for (const [name, answer] of Object.entries(site.routes)) {
    site.routes[name] = async (call) => {
      await new Promise((done) => setTimeout(done, delayMs))
      return answer(call)
    }
  }
  return site
}
