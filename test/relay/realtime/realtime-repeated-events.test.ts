import { describe, expect, it } from 'vitest'
import type { RealtimeClient } from '../support/realtime-client.ts'
import { CHARGE, USAGE } from '../support/realtime-provider.ts'
import {
  audio,
  bills,
  COMMIT,
  openCalls,
  realtimeSite,
  sessionWithoutSpeech,
  TRANSCRIPTION,
  transcribingSession,
} from '../support/realtime-site.ts'

/** In no test of this file does a usage arrive after the caller has left. */
const { provider, rig, session } = realtimeSite({ deadlines: { lastUsageMs: 200 } })
const COMPLETED = `${TRANSCRIPTION}.completed`
const TEXT = 'Hello there, '.repeat(40)
const FIRST = { item_id: 'item_1' }
const NO_ID = {}

const committed = (id: object) => session().send({ type: 'input_audio_buffer.committed', ...id })
const completed = (id: object, more: object = {}) =>
  session().send({ type: COMPLETED, transcript: '', ...id, ...more })

/** Waits until the relay has handled all events that the provider has sent. */
async function handled(client: RealtimeClient): Promise<void> {
  session().send({ type: 'conversation.item.added', item: {} })
  await client.event('conversation.item.added')
}

/** Sends audio of so many tokens in commits of their own. */
async function sessionWithCommits(...tokens: number[]): Promise<RealtimeClient> {
  const client = await transcribingSession(rig.url)
  for (const count of tokens) {
    client.send(audio(count * 4_800))
    client.send(COMMIT)
  }
  const commits = () => session().typesOf(COMMIT.type)
  await expect.poll(commits).toHaveLength(tokens.length)
  return client
}

/** Ends the session. Returns the tokens of audio of each bill, by the gateway's own count. */
async function billedAudio(client: RealtimeClient): Promise<readonly number[]> {
  await handled(client)
  client.socket.close()
  await expect.poll(() => session().isClosed).toBe(true)
  await expect.poll(() => openCalls(rig)).toBe(0)
  return (await bills(rig)).map(({ usage }) => usage.inputAudio)
}

describe('a transcription whose events lack the id of the item', () => {
  it('is charged for the audio of the oldest commit, and a repeat is not shown', async () => {
    const client = await sessionWithCommits(10, 200)
    const shown: string[] = []
    client.socket.on('message', (data) => shown.push(JSON.parse(String(data)).type))
    committed(NO_ID)
    committed(NO_ID)
    for (let at = 0; at < 4; at += 1) completed(NO_ID)
    expect(await billedAudio(client)).toEqual([10, 200])
    expect(shown.filter((type) => type === COMPLETED)).toHaveLength(2)
  })

  it.each([
    ['without an id', NO_ID],
    ['with an id', FIRST],
  ])('is charged once if its commit %s comes later', async (_name, id) => {
    const client = await sessionWithCommits(10, 200)
    completed(NO_ID)
    await client.event(COMPLETED)
    committed(id)
    completed(NO_ID)
    await client.event(COMPLETED)
    completed(NO_ID)
    committed(NO_ID)
    expect(await billedAudio(client)).toEqual([10, 200])
  })

  it('leaves the report of the next turn charged if it comes before its own commit', async () => {
    const client = await transcribingSession(rig.url)
    client.send(audio(200 * 4_800))
    await expect.poll(() => session().typesOf('input_audio_buffer.append')).toHaveLength(1)
    const speech = (item_id: string, audio_start_ms: number, audio_end_ms: number) => {
      const name = 'input_audio_buffer.speech'
      session().send({ type: `${name}_started`, item_id, audio_start_ms })
      session().send({ type: `${name}_stopped`, item_id, audio_end_ms })
    }
    const usageOf = (tokens: number) => ({
      usage: {
        ...{ type: 'tokens', input_tokens: tokens, output_tokens: 0, total_tokens: tokens },
        input_token_details: { text_tokens: 0, audio_tokens: tokens },
      },
    })
    speech('item_1', 0, 5_000)
    completed(NO_ID, usageOf(50))
    await client.event(COMPLETED)
    committed(FIRST)
    speech('item_2', 6_000, 18_000)
    committed({ item_id: 'item_2' })
    completed({ item_id: 'item_2' }, usageOf(120))
    await client.event(COMPLETED)
    expect(await billedAudio(client)).toEqual([50, 120])
  })

  it('is charged although no commit is ever seen', async () => {
    const client = await sessionWithCommits(10)
    completed(NO_ID)
    completed(NO_ID)
    expect(await billedAudio(client)).toEqual([10])
  })

  it('belongs to an item that was committed with an id', async () => {
    const client = await sessionWithCommits(10)
    committed(FIRST)
    session().send({ type: `${TRANSCRIPTION}.delta`, delta: TEXT })
    completed(NO_ID)
    await client.event(COMPLETED)
    completed(FIRST)
    expect(await billedAudio(client)).toEqual([10])
    expect(await bills(rig)).toMatchObject([{ usage: { output: 130 } }])
  })

  it('belongs to an item that was committed without one, if only the commit lacks it', async () => {
    const client = await sessionWithCommits(10, 200)
    committed(NO_ID)
    committed(NO_ID)
    completed(FIRST)
    completed(FIRST)
    expect(await billedAudio(client)).toEqual([10, 200])
  })

  it('is charged with the text that arrives before the commit', async () => {
    const client = await sessionWithCommits(10)
    session().send({ type: `${TRANSCRIPTION}.delta`, delta: TEXT })
    committed(FIRST)
    completed(FIRST)
    expect(await billedAudio(client)).toEqual([10])
    expect(await bills(rig)).toMatchObject([{ usage: { output: 130 } }])
  })

  it('costs nothing if it has failed, and leaves the next one charged', async () => {
    const client = await sessionWithCommits(10, 200)
    committed(FIRST)
    session().send({ type: `${TRANSCRIPTION}.failed`, error: {} })
    expect(await billedAudio(client)).toEqual([200])
  })

  it('costs nothing if no audio was sent', async () => {
    const client = await transcribingSession(rig.url)
    session().send({ type: `${TRANSCRIPTION}.delta`, delta: TEXT })
    completed(NO_ID, { transcript: TEXT })
    expect(await billedAudio(client)).toEqual([])
  })
})

describe('transcriptions with ids', () => {
  it('are charged once each, whatever their order and repetitions are', async () => {
    const client = await sessionWithCommits(10, 200)
    const second = { item_id: 'item_2' }
    committed(FIRST)
    committed(second)
    for (const id of [second, FIRST, second, FIRST]) {
      completed(id)
      await client.event(COMPLETED)
    }
    committed(FIRST)
    expect(await billedAudio(client)).toEqual([200, 10])
  })

  it('that fail before their commit is seen cost nothing', async () => {
    const client = await sessionWithCommits(10)
    session().send({ type: `${TRANSCRIPTION}.failed`, ...FIRST, error: {} })
    committed(FIRST)
    expect(await billedAudio(client)).toEqual([])
  })
})

describe('the end of a response', () => {
  const created = (id: object) =>
    session().send({ type: 'response.created', response: { ...id, status: 'in_progress' } })
  const done = (id: object) => {
    const response = { ...id, status: 'completed', usage: USAGE }
    session().send({ type: 'response.done', response })
  }
  const ID = { id: 'resp_1' }

  /** Requests a response whose events the test sends. */
  async function requested(): Promise<RealtimeClient> {
    const client = await sessionWithoutSpeech(rig.url)
    provider.onEvent = ({ type }) => type.startsWith('response.')
    client.send({ type: 'response.create' })
    await expect.poll(() => session().typesOf('response.create')).toHaveLength(1)
    return client
  }

  async function charges(client: RealtimeClient): Promise<readonly number[]> {
    await billedAudio(client)
    return (await bills(rig)).map(({ charge }) => charge)
  }

  it.each([
    ['with ids', ID, ID],
    ['without ids', NO_ID, NO_ID],
    ['with an id at the beginning only', ID, NO_ID],
  ])('is charged once if all events are repeated, %s', async (_name, begin, end) => {
    const client = await requested()
    created(begin)
    created(begin)
    done(end)
    await client.event('response.done')
    done(end)
    created(begin)
    done(end)
    expect(await charges(client)).toEqual([CHARGE])
  })

  it.each([
    ['with ids', ID],
    ['without ids', NO_ID],
  ])('is charged once if it comes before the beginning, %s', async (_name, id) => {
    const client = await requested()
    done(id)
    await client.event('response.done')
    created(id)
    done(id)
    expect(await charges(client)).toEqual([CHARGE])
  })

  it('without an id leaves the next response charged', async () => {
    const client = await requested()
    created(NO_ID)
    done(NO_ID)
    await client.event('response.done')
    client.send({ type: 'response.create' })
    await expect.poll(() => session().typesOf('response.create')).toHaveLength(2)
    created(NO_ID)
    done(NO_ID)
    await client.event('response.done')
    expect(await charges(client)).toEqual([CHARGE, CHARGE])
  })
})
