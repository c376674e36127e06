import { beforeAll, describe, expect, it } from 'vitest'
import type { ChannelEntry } from '#read-api/contract/channels.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { budget, shortestMs } from '#test/support/time-limit.ts'
import { aCall, admitted, channelCreated, settledCall } from '../projections/fixture.ts'
import { ADMIN, apiFixture } from './fixture.ts'

const CHANNELS = 1_000
const MODELS = Array.from({ length: 40 }, (_, n) => `model-${n}`)

const api = startedOnce(apiFixture)
let admin: Record<string, string>

beforeAll(async () => {
  admin = await api.logIn(ADMIN)
  const call = aCall()
  const made = Array.from({ length: CHANNELS }, (_, n) =>
    channelCreated(n + 1, `channel ${n}`, {
      tag: n % 10 === 0 ? '' : `tag-${n % 90}`,
      models: MODELS.slice(n % 20),
      groups: n % 3 === 0 ? ['default', 'vip'] : ['default'],
      priority: n % 7,
      modelMapping: JSON.stringify({ 'model-1': 'x'.repeat(200) }),
    }),
  )
  const tagged = Array.from({ length: CHANNELS }, (_, n) =>
    channelCreated(CHANNELS + n + 1, `one of many ${n}`, {
      tag: 'everything',
      models: MODELS.slice(n % 20),
      modelMapping: JSON.stringify({ 'model-1': 'x'.repeat(200) }),
    }),
  )
  const lone = Array.from({ length: CHANNELS }, (_, n) =>
    channelCreated(2 * CHANNELS + n + 1, `lone ${n}`, { models: MODELS.slice(n % 20) }),
  )
  made.push(...tagged, ...lone)
  for (let from = 0; from < made.length; from += 400) await api.append(made.slice(from, from + 400))
  const position = await api.append([admitted(call), settledCall(call, 5)])
  await api.settled(position)
  await api.core.pg.query('analyze read_channels.channels')
})

type Page = { items: ChannelEntry[]; total: number }

describe(`the list of ${CHANNELS} channels`, () => {
  it.each([
    '?p=0&page_size=20',
    '?p=49&page_size=20&id_sort=true',
    '?p=0&page_size=100&sort=used_quota&order=desc',
    'search?keyword=channel%2099',
    'search?model=model-39&group=vip&status=1',
    'search?keyword=7&sort=name&order=asc',
    '?tag_mode=true&page_size=10',
    'search?tag_mode=true&page_size=20&keyword=lone',
  ])('answers %s in less than 100 ms', (query) => answersWithin(100, query))

  it.each([
    ['the tag itself', 'search?tag_mode=true&children=false&keyword=one%20of%20many'],
    ['a page of its channels', '?tag=everything&page_size=100&p=9'],
  ])('answers a request for %s of a large tag in less than 100 ms', (_, query) =>
    answersWithin(100, query),
  )

  it('returns the id and status of each member of a tag, without its channels', async () => {
    const query = '/api/channel/search?tag_mode=true&children=false&keyword=one%20of%20many'
    const [group] = (await api.get<Page>(query, admin)).body.data.items
    if (group === undefined || !('children' in group)) throw new Error('not a tag')
    expect(group.children).toEqual([])
    expect(group.members).toHaveLength(CHANNELS)
    expect(group.members[0]).toMatchObject({ id: 2 * CHANNELS, status: 1 })
  })

  async function answersWithin(most: number, query: string): Promise<void> {
    const ms = await shortestMs(async () => {
      const { body } = await api.get<Page>(`/api/channel/${query}`, admin)
      expect(body.data.total).toBeGreaterThan(0)
    }, budget(most))
    console.info(`${CHANNELS} channels, ${query}: ${ms.toFixed(1)} ms`)
    expect(ms).toBeLessThan(budget(most))
  }
})
