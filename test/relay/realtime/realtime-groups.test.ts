import { beforeEach, describe, expect, it } from 'vitest'
import { UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import { RealtimeClient } from '../support/realtime-client.ts'
import { CHARGE } from '../support/realtime-provider.ts'
import {
  audio,
  bills,
  COMMIT,
  MODEL,
  openCalls,
  realtimeSite,
  sessionWithoutSpeech,
  TRANSCRIBER,
  TRANSCRIPTION,
  transcribingSession,
} from '../support/realtime-site.ts'
import { KEY, TOKEN, USER } from '../support/relay-rig.ts'

const { provider, rig, session } = realtimeSite()

beforeEach(async () => {
  await rig.setOption('GroupRatio', { default: 1, cheap: 0.1, other: 1 })
  await rig.setOption('UserUsableGroups', { default: '', cheap: '' })
  const models = [MODEL]
  await rig.addChannel(5, { type: 8, baseUrl: provider.url, models, groups: ['default', 'cheap'] })
  await rig.append('channels', {
    ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } },
  } as never)
})

const setTerms = (change: object) =>
  rig.append(`tokens-${USER}`, {
    ...{ type: 'TokenTermsChanged', v: 1 },
    data: { userId: USER, tokenId: TOKEN, terms: { name: 'a', ...UNRESTRICTED_TERMS, ...change } },
  } as never)
const moveUser = (group: string) =>
  rig.append(`user-${USER}`, {
    ...{ type: 'UserGroupChanged', v: 1, data: { userId: USER, group } },
  } as never)

async function respond(client: RealtimeClient): Promise<void> {
  const before = (await bills(rig)).length
  client.send({ type: 'response.create' })
  await expect.poll(async () => (await bills(rig)).length).toBe(before + 1)
}
const charges = async () => (await bills(rig)).map(({ charge }) => charge)
const groups = async () =>
  (await rig.callEvents()).flatMap((event) =>
    event.type === 'CallAdmitted' ? [event.data.group] : [],
  )

describe('the next response of an open session', () => {
  it('has the price of the group into which its token was moved', async () => {
    await setTerms({ group: 'cheap' })
    const client = await sessionWithoutSpeech(rig.url)
    await respond(client)
    await setTerms({ group: '' })
    await respond(client)
    expect(await charges()).toEqual([CHARGE / 10, CHARGE])
    expect(await groups()).toEqual(['cheap', 'default'])
    expect(await openCalls(rig)).toBe(0)
  })

  it('has the price of the group into which its user was moved', async () => {
    await moveUser('cheap')
    const client = await sessionWithoutSpeech(rig.url)
    await respond(client)
    await moveUser('default')
    await respond(client)
    expect(await charges()).toEqual([CHARGE / 10, CHARGE])
  })

  it("has the price for its user's new group, although the token names another group", async () => {
    await rig.setOption('GroupGroupRatio', { other: { cheap: 0.5 } })
    await setTerms({ group: 'cheap' })
    const client = await sessionWithoutSpeech(rig.url)
    await respond(client)
    await moveUser('other')
    await respond(client)
    expect(await charges()).toEqual([CHARGE / 10, CHARGE / 2])
  })

  it('is refused if the new group does not have the channel of the session', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    await moveUser('other')
    client.send({ type: 'response.create' })
    const { error } = await client.event('error')
    expect(error).toMatchObject({ code: 'no_channel' })
    expect(await rig.callEvents()).toEqual([])
  })

  it('is allowed after the first group was closed, if the token was moved before', async () => {
    await setTerms({ group: 'cheap' })
    const client = await sessionWithoutSpeech(rig.url)
    await setTerms({ group: '' })
    await rig.setOption('UserUsableGroups', { default: '' })
    await respond(client)
    expect(await charges()).toEqual([CHARGE])
  })
})

describe('the transcriptions of an open session', () => {
  it('have the price of the group into which the user was moved', async () => {
    await moveUser('cheap')
    const client = await transcribingSession(rig.url)
    await moveUser('default')
    client.send(audio(4_800))
    client.send(COMMIT)
    await expect.poll(() => session().typesOf('input_audio_buffer.commit').length).toBe(1)
    session().send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
    session().send({ type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', transcript: 'Hi.' })
    await client.event(`${TRANSCRIPTION}.completed`)
    expect(await groups()).toContain('default')
    expect(await groups()).not.toContain('cheap')
  })

  it('may not begin with a model that the token has lost', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    await setTerms({ models: [MODEL] })
    const input = { turn_detection: null, transcription: { model: TRANSCRIBER } }
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input } } })
    const { error } = await client.event('error')
    expect(error).toMatchObject({ code: 'model_not_allowed' })
  })
})

describe('a token of the group auto', () => {
  beforeEach(async () => {
    await rig.setOption('AutoGroups', ['cheap', 'default'])
    await setTerms({ group: 'auto' })
    await rig.setOption('UserUsableGroups', { default: '', cheap: '', auto: '' })
  })
  const closeAuto = () => rig.setOption('UserUsableGroups', { default: '', cheap: '' })

  it('opens a session in the first group', async () => {
    await respond(await sessionWithoutSpeech(rig.url))
    expect(await groups()).toEqual(['cheap'])
  })

  it('opens no session and gets no temporary key once users may not use this group', async () => {
    await closeAuto()
    const client = new RealtimeClient(rig.url, MODEL)
    await expect.poll(() => client.refused?.status).toBe(403)
    const answer = await fetch(`${rig.url}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer sk-${KEY}` },
      body: JSON.stringify({ session: { type: 'realtime', model: MODEL } }),
    })
    expect(answer.status).toBe(403)
  })

  it('has no further response in an open session once users may not use this group', async () => {
    const client = await sessionWithoutSpeech(rig.url)
    await respond(client)
    await closeAuto()
    client.send({ type: 'response.create' })
    const { error } = await client.event('error')
    expect(error).toMatchObject({ code: 'group_not_allowed' })
    expect(await bills(rig)).toHaveLength(1)
  })
})
