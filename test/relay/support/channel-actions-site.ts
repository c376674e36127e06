import { expect } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { findChannel } from '#projections/channels/query.ts'
import { addChannel, PASSWORD, type TestProduct, testProduct } from '#test/support/test-product.ts'
import { type ScriptedProvider, scriptedProvider } from './scripted-provider.ts'

/** A response of the management API, including fields other than `data`. */
export type Whole<T = unknown> = {
  readonly status: number
  readonly success: boolean
  readonly message: string
  readonly code?: string
  readonly data: T
  readonly time?: number
  readonly balance?: number
  readonly text: string
}

export type ActionsSite = {
  readonly product: TestProduct
  readonly scripted: ScriptedProvider
  readonly admin: ConsoleClient
  readonly user: ConsoleClient
  /** A channel to the scripted provider; its id. */
  readonly channel: (fields?: Record<string, unknown>) => Promise<number>
  /** A channel of before, of a type that nobody serves any more; its id. */
  readonly bygone: () => Promise<number>
  /** As an admin, unless headers say otherwise. */
  readonly ask: <T>(
    path: string,
    options?: { body?: unknown; headers?: Record<string, string> },
  ) => Promise<Whole<T>>
  readonly close: () => Promise<void>
}

export const SECRET = 'sk-of-the-provider-0123456789'

/** As it may stand in a history: none is made like that, nor changed to it. */
async function bygoneChannel(product: TestProduct): Promise<number> {
  const { core } = product.running
  const channelId = await addChannel(product, { key: SECRET })
  const command = {
    type: 'ChangeTerms',
    channelId,
    change: { type: 11 },
    keys: { refs: ['gone'], isAppended: false },
    keyMode: null,
  } as const
  const context = { actor: 'user:1', cause: 'a test', at: core.now() }
  await core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  await expect
    .poll(async () => (await findChannel(core.db, channelId))?.terms.type)
    .toBe(command.change.type)
  return channelId
}

/** The product with an admin and a user, beside a provider that answers what it is told to. */
export async function actionsSite(): Promise<ActionsSite> {
  const product = await testProduct()
  const scripted = await scriptedProvider()
  const { root, url } = product
  for (const username of ['admin1', 'user1']) {
    await root.must('POST', '/api/user/', { username, password: PASSWORD })
  }
  const admin = new ConsoleClient(url)
  const id = await admin.logIn('admin1', PASSWORD)
  await root.must('POST', '/api/user/manage', { id, action: 'promote' })
  await admin.logIn('admin1', PASSWORD)
  const user = new ConsoleClient(url)
  await user.logIn('user1', PASSWORD)
  return {
    product,
    scripted,
    admin,
    user,
    channel: (fields = {}) =>
      addChannel(product, { key: SECRET, base_url: scripted.url, ...fields }),
    bygone: () => bygoneChannel(product),
    ask: async <T>(
      path: string,
      options: { body?: unknown; headers?: Record<string, string> } = {},
    ) => {
      const { body, headers } = options
      const response = await fetch(`${url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(headers ?? admin.sessionHeaders),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { ...(JSON.parse(text) as Whole<T>), status: response.status, text }
    },
    close: async () => {
      await product.close()
      await scripted.close()
    },
  }
}
