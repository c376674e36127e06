import { type ChatClient, chatTemplate } from './chat-client-page.ts'
import { ConsoleClient } from './management-api-client.ts'
import type { GatewayKeys, PaymentGateway } from './simulated-payment-gateway.ts'

export const PASSWORD = 'tallygate-demo'

export type Seeded = {
  readonly users: readonly { readonly username: string; readonly role: string }[]
  readonly tokens: readonly { readonly id: number; readonly key: string }[]
}

const RATIOS = { 'sim-small': 0.5, 'sim-large': 2.5, 'unsteady-cut': 0.5, 'unsteady-down': 0.5 }
const COMPLETION_RATIOS = { 'sim-small': 4, 'sim-large': 4, 'unsteady-cut': 4 }
/** Maps the demo models that fail on purpose to fault models of the simulated provider. */
const FAULTS = { 'unsteady-cut': 'fault-cut-8', 'unsteady-down': 'fault-status-503' }
const ALICES_QUOTA = 25_000_000

const PAGE_SIZE = 100

type Row = { readonly id: number; readonly name: string }

export async function seed(root: ConsoleClient, providerUrl: string): Promise<Seeded> {
  const status = await root.must<{ setup: boolean }>('GET', '/api/status')
  if (!status.setup) await root.setUp('root', PASSWORD)
  await root.logIn('root', PASSWORD)
  await setPrices(root)
  await setChannels(root, providerUrl)
  await setUser(root)
  const alice = new ConsoleClient(root.url)
  await alice.logIn('alice', PASSWORD)
  await sendMessages(root, alice)
  return {
    users: [
      { username: 'root', role: 'super admin' },
      { username: 'alice', role: 'user' },
    ],
    tokens: [
      await setToken(root, 'demo'),
      await setToken(alice, 'mobile app'),
      await setToken(root, 'batch jobs'),
    ],
  }
}

/** Adds the prices of the demo's models, and allows one retry per call. */
async function setPrices(root: ConsoleClient): Promise<void> {
  const options = await root.must<{ key: string; value: string }[]>('GET', '/api/option/')
  const put = (key: string, value: string) => root.must('PUT', '/api/option/', { key, value })
  const add = (key: string, entries: Readonly<Record<string, number>>) => {
    const now = options.find((option) => option.key === key)?.value ?? '{}'
    return put(key, JSON.stringify({ ...JSON.parse(now), ...entries }))
  }
  await add('ModelRatio', RATIOS)
  await add('CompletionRatio', COMPLETION_RATIOS)
  await put('RetryTimes', '1')
}

async function setChannels(root: ConsoleClient, providerUrl: string): Promise<void> {
  const fields = {
    type: 1,
    key: 'sk-simulated-provider-key',
    base_url: providerUrl,
    group: 'default',
    tag: 'simulated',
  }
  await setChannel(root, {
    ...fields,
    name: 'Simulated provider',
    models: Object.keys(RATIOS).join(','),
    model_mapping: JSON.stringify(FAULTS),
    weight: 4,
    cost_ratio: 0.6,
  })
  await setChannel(root, {
    ...fields,
    name: 'Unreliable provider',
    models: 'sim-large',
    model_mapping: JSON.stringify({ 'sim-large': 'fault-status-503' }),
    weight: 1,
  })
  await setChannel(root, {
    ...fields,
    name: 'Key pool',
    key: ['sk-simulated-key-1', 'sk-simulated-key-2', 'sk-simulated-key-3'].join('\n'),
    mode: 'multi_to_single',
    multi_key_mode: 'polling',
    models: 'sim-small',
    weight: 2,
    cost_ratio: 0.75,
  })
}

/**
 * Creates the channel with this name, or updates an existing channel of this name. The update is
 * needed because the provider's port changes at each start. The update is forced, because a demo
 * that was killed may have left unfinished tasks. These tasks can never end, because their
 * simulated provider has ended.
 */
export async function setChannel(
  root: Pick<ConsoleClient, 'must'>,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const existing = await channelNamed(root, String(fields.name))
  if (existing === undefined) await root.must('POST', '/api/channel/', fields)
  else await root.must('PUT', '/api/channel/', { ...fields, id: existing.id, force: true })
}

/**
 * Returns the channel with exactly this name. Reads all pages of the search result, because many
 * channels may match.
 */
export async function channelNamed(
  root: Pick<ConsoleClient, 'must'>,
  name: string,
): Promise<Row | undefined> {
  const path = `/api/channel/search?keyword=${encodeURIComponent(name)}&page_size=${PAGE_SIZE}`
  for (let page = 0; ; page += 1) {
    const list = await root.must<{ items: Row[]; total: number }>('GET', `${path}&p=${page}`)
    const found = list.items.find((row) => row.name === name)
    if (found !== undefined || (page + 1) * PAGE_SIZE >= list.total) return found
  }
}

async function setUser(root: ConsoleClient): Promise<void> {
  const { total } = await root.must<{ total: number }>('GET', '/api/user/?p=0')
  if (total > 1) return
  const fields = { username: 'alice', password: PASSWORD, display_name: 'Alice' }
  await root.must('POST', '/api/user/', fields)
  const { items } = await root.must<{ items: { id: number; username: string }[] }>(
    'GET',
    '/api/user/?p=0',
  )
  const id = items.find(({ username }) => username === 'alice')?.id
  await root.must('PUT', '/api/user/', { id, quota: ALICES_QUOTA })
}

async function setToken(client: ConsoleClient, name: string): Promise<{ id: number; key: string }> {
  const { items } = await client.must<{ items: (Row & { key: string })[] }>(
    'GET',
    '/api/token/?p=0&size=100',
  )
  const existing = items.find((token) => token.name === name)
  if (existing !== undefined) return { id: existing.id, key: `sk-${existing.key}` }
  return client.createToken({ name, unlimited_quota: true })
}

const MESSAGES = [
  {
    title: 'Welcome to Tallygate',
    content: 'Create an **API token**, then try `sim-small` with the curl line of the demo.',
    format: 'markdown',
  },
  {
    title: 'Drawing and music are open',
    content: [
      'Two new kinds of work are open to everybody:',
      '- **Drawings**, over `/mj/submit/imagine`',
      '- **Songs and lyrics**, over `/suno/submit/music` and `/suno/submit/lyrics`',
      '\nA failed task costs nothing. What each costs is in the list of prices.',
    ].join('\n'),
    format: 'markdown',
  },
  {
    title: '维护通知',
    content: '<p>今晚 <b>22:00–23:00</b> 进行例行维护，正在进行的请求会正常完成。</p>',
    format: 'html',
  },
]

async function sendMessages(root: ConsoleClient, alice: ConsoleClient): Promise<void> {
  const { total } = await root.must<{ total: number }>('GET', '/api/admin/messages?p=0')
  if (total > 0) return
  for (const message of MESSAGES) {
    await root.must('POST', '/api/admin/messages', { ...message, everybody: true })
  }
  const inbox = await alice.must<{ items: { id: number }[] }>('GET', '/api/user/messages?p=0')
  await alice.must('PUT', `/api/user/messages/${inbox.items.at(-1)?.id}/read`)
}

const NAME = 'Demo chat'

/**
 * Puts the demo's chat client first in the list of chat clients. The entry of this client is
 * replaced at each start, because the client's port changes.
 */
export async function seedChats(
  root: Pick<ConsoleClient, 'must'>,
  client: Pick<ChatClient, 'url'>,
): Promise<void> {
  const options = await root.must<{ key: string; value: string }[]>('GET', '/api/option/')
  const now = options.find(({ key }) => key === 'Chats')?.value || '[]'
  const others = (JSON.parse(now) as Record<string, string>[]).filter((chat) => !(NAME in chat))
  const value = JSON.stringify([{ [NAME]: chatTemplate(client.url) }, ...others])
  await root.must('PUT', '/api/option/', { key: 'Chats', value })
}

export const DEMO_KEYS: GatewayKeys = {
  merchant: '1001',
  key: 'demo-epay-key',
  stripeKey: 'sk_test_demo',
  stripeWebhookSecret: 'whsec_demo',
}

/**
 * Configures payment through the simulated gateway, which moves no money. If no top-up orders exist
 * yet, also creates two orders of the user alice. The client must be logged in as `root`.
 */
export async function seedPayments(
  root: ConsoleClient,
  gateway: Pick<PaymentGateway, 'url'>,
): Promise<void> {
  const { server_address } = await root.must<{ server_address: string }>('GET', '/api/status')
  for (const [key, value] of Object.entries({
    ServerAddress: /^$|^http:\/\/127\.0\.0\.1:/.test(server_address) ? root.url : server_address,
    PayAddress: gateway.url,
    EpayId: DEMO_KEYS.merchant,
    EpayKey: DEMO_KEYS.key,
    StripeApiKey: DEMO_KEYS.stripeKey,
    StripeWebhookSecret: DEMO_KEYS.stripeWebhookSecret,
    TopUpCodes: '{"SPRING": 0.9}',
  })) {
    await root.must('PUT', '/api/option/', { key, value })
  }
  const { total } = await root.must<{ total: number }>('GET', '/api/user/topup')
  if (total > 0) return
  const alice = new ConsoleClient(root.url)
  await alice.logIn('alice', PASSWORD)
  for (const [amount, isPaid] of [
    [20, true],
    [50, false],
  ] as const) {
    const order = { amount, payment_method: 'zfb', top_up_code: 'SPRING' }
    const form = await alice.must<Record<string, string>>('POST', '/api/user/pay', order)
    await send(`${gateway.url}/submit.php`, form)
    if (isPaid) await send(`${gateway.url}/pay`, { trade_no: form.out_trade_no ?? '' })
  }
}

const send = (url: string, form: Record<string, string>): Promise<Response> =>
  fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
