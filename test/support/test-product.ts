import type { Config } from '#infra/config/config-types.ts'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import {
  type SimulatedProvider,
  type SimulatedProviderOptions,
  startSimulatedProvider,
} from '#infra/demo/simulated-provider.ts'
import { type Running, startProduct } from '#infra/start.ts'
import { sendChat } from './send-chat.ts'
import { testConfig } from './test-core.ts'

export const PASSWORD = 'a-long-password'

export type TestProduct = {
  readonly running: Running
  readonly url: string
  readonly root: ConsoleClient
  readonly provider: SimulatedProvider
  close(): Promise<void>
}

export const ALL_ROLES: Config['roles'] = new Set([
  ...(['write-api', 'read-api', 'projections', 'relay', 'console'] as const),
])

type Engine = 'eventStore' | 'kafkaBrokers' | 'redisUrl' | 'stripeApiBase'

/** Starts the complete product in this process, with a channel to a simulated provider. */
export async function testProduct(
  options: {
    readonly provider?: SimulatedProviderOptions
    readonly roles?: Config['roles']
    /** The addresses of external engines, such as Redis. */
    readonly engines?: Partial<Pick<Config, Engine>>
    readonly transparencyLog?: Partial<Config['transparencyLog']>
  } = {},
): Promise<TestProduct> {
  const roles = options.roles ?? new Set(['write-api', 'read-api', 'projections', 'relay'] as const)
  const { config: plain, drop } = await testConfig({ roles, ...options.engines })
  const transparencyLog = { ...plain.transparencyLog, ...options.transparencyLog }
  const config = { ...plain, transparencyLog }
  const provider = await startSimulatedProvider(options.provider)
  const running = await startProduct(config)
  const root = await setUpSite(running.url)
  return {
    running,
    url: running.url,
    root,
    provider,
    close: async () => {
      await running.stop(5_000)
      await provider.close()
      await drop()
    },
  }
}

/** Sets up a new site and returns the client of root. */
export async function setUpSite(url: string): Promise<ConsoleClient> {
  const root = new ConsoleClient(url)
  await root.setUp('root', PASSWORD)
  await root.logIn('root', PASSWORD)
  return root
}

/** Creates a user and returns its id and a client that is logged in as the user. */
export async function addUser(
  root: ConsoleClient,
  username: string,
  quota?: number,
): Promise<{ readonly id: number; readonly client: ConsoleClient }> {
  await root.must('POST', '/api/user/', { username, password: PASSWORD })
  const client = new ConsoleClient(root.url)
  const id = await client.logIn(username, PASSWORD)
  if (quota !== undefined) await root.must('PUT', '/api/user/', { id, quota })
  return { id, client }
}

export async function addChannel(
  { root, provider }: { readonly root: ConsoleClient; readonly provider: { readonly url: string } },
  fields: Record<string, unknown> = {},
): Promise<number> {
  await root.must('POST', '/api/channel/', {
    name: 'simulated',
    type: 1,
    key: 'sk-provider-secret-0123456789',
    base_url: provider.url,
    models: 'sim-small,sim-large',
    group: 'default',
    ...fields,
  })
  const { items } = await root.must<{ items: { id: number }[] }>(
    'GET',
    '/api/channel/?page_size=100',
  )
  return Math.max(...items.map(({ id }) => id))
}

export const setOption = (root: ConsoleClient, key: string, value: unknown): Promise<unknown> =>
  root.must('PUT', '/api/option/', {
    key,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  })

/** Calls the relay and reads the complete response body. */
export async function chat(
  url: string,
  key: string,
  body: Record<string, unknown>,
): Promise<{ status: number; text: string; requestId: string; headers: Headers }> {
  const response = await sendChat(url, key, body)
  return {
    status: response.status,
    text: await response.text(),
    requestId: response.headers.get('x-request-id') ?? '',
    headers: response.headers,
  }
}
