import { join, resolve } from 'node:path'
import { QUOTA_PER_DOLLAR } from '#domain/shared/quota.ts'
import { runProduct } from '../run-product.ts'
import { startChatClient } from './chat-client-page.ts'
import { ConsoleClient } from './management-api-client.ts'
import { DEMO_KEYS, PASSWORD, type Seeded, seed, seedChats, seedPayments } from './seed.ts'
import { seedTasks, startTaskTrickle } from './seed-tasks.ts'
import { startPaymentGateway } from './simulated-payment-gateway.ts'
import { startSimulatedProvider } from './simulated-provider.ts'

const DOLLAR = Number(QUOTA_PER_DOLLAR)
const DATA_DIR = resolve(process.env.DATA_DIR ?? join(import.meta.dirname, '../../.data-demo'))

/** Starts the product with a simulated provider, users, prices and continuous calls. */
async function demo(): Promise<void> {
  const provider = await startSimulatedProvider({ firstByteMs: 120, gapMs: 25, answerTokens: 40 })
  const gateway = await startPaymentGateway(DEMO_KEYS)
  const chat = await startChatClient()
  const engines = { STRIPE_API_BASE: gateway.url, DATA_DIR }
  const running = await runProduct({ LOG_LEVEL: 'warn', ...process.env, ...engines }, true)
  if (running === null) {
    await Promise.all([provider.close(), gateway.close(), chat.close()])
    return
  }
  const root = new ConsoleClient(running.url)
  const seeded = await seed(root, provider.url)
  await seedChats(root, chat)
  await Promise.all([seedPayments(root, gateway), seedCodes(root)])
  await seedTasks(root, provider.url, seeded.tokens)
  const continuousCalls = startContinuousCalls(running.url, seeded.tokens)
  const tasks = startTaskTrickle(running.url, seeded.tokens)
  process.on('exit', () => {
    continuousCalls.stop()
    tasks.stop()
  })
  process.stdout.write(welcomeText(running.url, seeded))
}

const welcomeText = (url: string, { users, tokens }: Seeded): string => `
  Console     ${url}
  Sign in as  ${users.map(({ username, role }) => `${username} (${role})`).join(', ')}
  Password    ${PASSWORD}

  Calls arrive all the time: open ${url}/app/logs/api-usage and watch, or send one yourself:

  curl -sN ${url}/v1/chat/completions \\
    -H "Authorization: Bearer ${tokens[0]?.key}" -H "Content-Type: application/json" \\
    -d '{"model":"sim-small","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

  Ctrl-C stops it. The data stays in ${DATA_DIR}
`

/** Creates redemption codes in every state if no codes exist yet. `root` must be logged in. */
async function seedCodes(root: ConsoleClient): Promise<void> {
  const { total } = await root.must<{ total: number }>('GET', '/api/redemption/?p=0')
  if (total > 0) return
  const make = (fields: Readonly<Record<string, unknown>>) =>
    root.must<string[]>('POST', '/api/redemption/', fields)
  const [used] = await make({ name: 'Spring sale', quota: 5 * DOLLAR, count: 5 })
  const week = Math.floor(Date.now() / 1_000) + 7 * 86_400
  const gift = { is_gift: true, max_uses: 100, valid_until: week }
  const [welcome] = await make({ name: 'Welcome gift', quota: DOLLAR, key: 'WELCOME', ...gift })
  await make({ name: 'Partner trial', quota: 20 * DOLLAR, count: 2 })
  const alice = new ConsoleClient(root.url)
  await alice.logIn('alice', PASSWORD)
  for (const key of [used, welcome]) await alice.must('POST', '/api/user/topup', { key })
  const { items } = await root.must<{ items: { id: number }[] }>('GET', '/api/redemption/?p=0')
  await root.must('PUT', '/api/redemption/batch-disable', { ids: [items[0]?.id] })
}

const QUESTIONS = [
  'Summarise the last quarter in three lines.',
  'What does an append-only ledger make easy?',
  'Write a haiku about exact change.',
  'Explain backpressure to a river.',
  'List five names for a friendly robot.',
]

type Shape = { readonly model: string; readonly stream: boolean }

const SHAPES: readonly Shape[] = [
  { model: 'sim-small', stream: true },
  { model: 'sim-small', stream: false },
  { model: 'sim-large', stream: true },
  { model: 'sim-small', stream: true },
  { model: 'sim-large', stream: false },
  { model: 'unsteady-cut', stream: true },
  { model: 'sim-small', stream: true },
  { model: 'unsteady-down', stream: false },
]

/** Sends about one call per second: streaming calls, non-streaming calls and calls that fail. */
function startContinuousCalls(
  url: string,
  tokens: readonly { readonly key: string }[],
): { stop(): void } {
  let count = 0
  const call = async () => {
    const shape = SHAPES[count % SHAPES.length] as Shape
    const token = tokens[count % tokens.length]
    const content = QUESTIONS[count % QUESTIONS.length]
    count += 1
    try {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token?.key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ ...shape, messages: [{ role: 'user', content }] }),
      })
      await response.arrayBuffer()
    } catch {
      // The error is ignored, because the demo interrupts some streams on purpose.
    }
  }
  const timer = setInterval(() => void call(), 1_200)
  timer.unref()
  void call()
  return { stop: () => clearInterval(timer) }
}

await demo()
