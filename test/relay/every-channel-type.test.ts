import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach, startedOnce } from '#test/support/started-by-hook.ts'
import { testProduct } from '#test/support/test-product.ts'
import { KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'
import { TYPES_WITH_CALLS, TYPES_WITH_TASKS } from './support/tested-channel-types.ts'

/**
 * The types whose calls can't be streamed, with the reason. Their plain calls, usage and errors are
 * tested below.
 */
const WITHOUT_STREAMS = new Map([
  [38, 'Jina has no chats. Rerank and embeddings are answered at once in every API.'],
])

describe('the channel types that `GET /api/channel/types` lists', () => {
  const product = startedOnce(testProduct)

  it('are those that tests call with a scripted provider, and no others', async () => {
    const rows = await product.root.must<{ id: number }[]>('GET', '/api/channel/types')
    const tested = [...TYPES_WITH_CALLS, ...TYPES_WITH_TASKS, ...WITHOUT_STREAMS.keys()]
    const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b)
    expect(sorted(rows.map(({ id }) => id))).toEqual(sorted(tested))
    expect(rows.length).toBeGreaterThan(45)
  })
})

describe.each([...WITHOUT_STREAMS.keys()])('type %i, without streams', (type) => {
  const provider = startedForEach(scriptedProvider)
  const rig = startedForEach(relayRig)
  const [RERANKER, EMBEDDER] = ['rerank-model', 'embedding-model']

  beforeEach(async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { type, baseUrl: provider.url, models: [RERANKER, EMBEDDER] })
    await rig.setOption('ModelRatio', { [RERANKER]: 0.5, [EMBEDDER]: 0.25 })
  })

  const send = async (path: string, body: object) => {
    const response = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }

  const RERANK = { model: RERANKER, query: 'The capital?', documents: ['Paris '.repeat(200)] }
  const EMBEDDING = { model: EMBEDDER, input: 'Paris '.repeat(200) }

  it.each([
    ['/v1/rerank', RERANK, { results: [{ index: 0, relevance_score: 0.9 }] }, 200n],
    ['/v1/embeddings', EMBEDDING, { data: [{ index: 0, embedding: [0.5] }] }, 100n],
  ])('bills a call of %s to the unit, and no error', async (path, body, answer, charge) => {
    const usage = { total_tokens: 400, prompt_tokens: 400 }
    provider.answers.set(`POST ${path}`, { body: { ...answer, usage } })
    const before = await rig.balance()
    expect((await send(path, body)).status).toBe(200)
    expect(before - (await rig.balance())).toBe(charge)
    const error = { detail: 'too many documents' }
    provider.answers.set(`POST ${path}`, { status: 422, body: error })
    expect((await send(path, body)).status).toBe(422)
    expect(before - (await rig.balance())).toBe(charge)
  })
})
