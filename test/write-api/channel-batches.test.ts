import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { fifty, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
let ids: number[]
let head: number

const post = (path: string, body: object) =>
  fixture.admin.call<number>('POST', `/api/channel/${path}`, { body })
const putTag = (body: object) => fixture.admin.call<number>('PUT', '/api/channel/tag', { body })
const read = async (id: number): Promise<Channel> =>
  (await fixture.admin.call<Channel>('GET', `/api/channel/${id}`)).data
const readAll = () => Promise.all(ids.map(read))
const made = async (fields: object = {}): Promise<number> => {
  const body = { name: 'c', key: 'sk-one', models: 'm', ...fields }
  return (await fixture.admin.call<{ id: number }>('POST', '/api/channel/', { body })).data.id
}
/** The types of the events since the test began. */
const written = async (): Promise<string[]> =>
  (await fixture.core.store.readAll(head, 1_000)).map(({ type }) => type)

beforeEach(async () => {
  for (const id of ids ?? []) await fixture.admin.call('DELETE', `/api/channel/${id}/`)
  ids = [await made({ tag: 'eu' }), await made({ tag: 'eu', priority: 2 }), await made()]
  head = await fixture.head()
})

describe('setting the status of several channels', () => {
  it('writes one event and answers how many channels changed', async () => {
    expect(await post('batch/status', { ids, status: 2 })).toMatchObject({ success: true, data: 3 })
    expect((await readAll()).map(({ status }) => status)).toEqual([2, 2, 2])
    expect(await post('batch/status', { ids, status: 1 })).toMatchObject({ data: 3 })
    expect(await post('batch/status', { ids, status: 1 })).toMatchObject({ data: 0 })
    expect(await written()).toEqual(['ChannelsDisabled', 'ChannelsEnabled'])
  })

  it('changes nothing if a channel is unknown, and names that channel', async () => {
    const answer = await post('batch/status', { ids: [...ids, 999_999], status: 2 })
    expect(answer).toMatchObject({ status: 404, success: false, code: 'ChannelUnknown' })
    expect(answer.message).toBe('渠道未找到，请刷新页面后重试。（#999999）')
    expect(await written()).toEqual([])
  })

  it('needs at least one channel and a status that exists', async () => {
    expect(await post('batch/status', { ids: [], status: 2 })).toMatchObject({
      ...{ status: 200, success: false, code: 'NoChannelSelected', message: '请先选择渠道！' },
    })
    expect((await post('batch/status', { ids, status: 3 })).status).toBe(400)
    const many = await post('batch/status', { ids: Array(1_001).fill(1), status: 1 })
    expect(many).toMatchObject({ status: 400, message: '参数 ids 无效：不能超过 1000 项' })
    expect(await written()).toEqual([])
  })

  it('enables no expired channel; by tag, it enables the other channels', async () => {
    const soon = Math.floor(Date.now() / 1_000) + 60
    const late = [await made({ name: 'late', tag: 'eu', expired_time: soon })]
    ids.push(...late)
    fixture.clock.ahead += 61_000
    await post('batch/status', { ids, status: 2 })
    head = await fixture.head()
    const words = '渠道已过期，无法启用，请先修改过期时间，或者设置为永不过期'
    const expired = { status: 200, success: false, code: 'ChannelExpired' }
    expect(await post('batch/status', { ids, status: 1 })).toMatchObject({
      ...{ ...expired, message: `${words}：late` },
    })
    const put = (fields: object) =>
      fixture.admin.call('PUT', '/api/channel/', { body: { id: late[0], ...fields } })
    expect(await put({ status: 1 })).toMatchObject({ ...expired, message: words })
    expect(await written()).toEqual([])
    expect(await post('tag/enabled', { tag: 'eu' })).toMatchObject({ data: 2 })
    expect(await put({ status: 1, expired_time: -1 })).toMatchObject({ success: true })
    expect((await readAll()).map(({ status }) => status)).toEqual([1, 1, 2, 1])
  })
})

describe('setting the tag of several channels', () => {
  it('writes one event', async () => {
    expect(await post('batch/tag', { ids, tag: ' west ' })).toMatchObject({ data: 3 })
    expect((await readAll()).map(({ tag }) => tag)).toEqual(['west', 'west', 'west'])
    expect(await written()).toEqual(['ChannelsTagged'])
  })

  it.each([
    ['', 200, '标签不能为空！'],
    [' ', 200, '标签不能为空！'],
    [7, 400, 'tag'],
  ])('refuses the tag %j', async (tag, status, message) => {
    const answer = await post('batch/tag', { ids, tag })
    expect(answer).toMatchObject({ status, success: false })
    expect(answer.message).toContain(message)
    expect(await written()).toEqual([])
  })

  it('removes the tag for null, with one event', async () => {
    await post('batch/tag', { ids, tag: 'west' })
    expect(await post('batch/tag', { ids, tag: null })).toMatchObject({ success: true, data: 3 })
    expect((await readAll()).map(({ tag }) => tag)).toEqual(['', '', ''])
    expect(await written()).toEqual(['ChannelsTagged', 'ChannelsTagged'])
  })

  it('needs at least one channel, and all channels must exist', async () => {
    expect(await post('batch/tag', { ids: [], tag: 'x' })).toMatchObject({
      ...{ status: 200, success: false, message: '请先选择要设置标签的渠道！' },
    })
    expect(await post('batch/tag', { ids: [999_999], tag: 'x' })).toMatchObject({ status: 404 })
    expect(await written()).toEqual([])
  })
})

describe('all channels of a tag', () => {
  it('are disabled by one event and enabled by one event', async () => {
    expect(await post('tag/disabled', { tag: 'eu' })).toMatchObject({ success: true, data: 2 })
    expect((await readAll()).map(({ status }) => status)).toEqual([2, 2, 1])
    expect(await post('tag/enabled', { tag: 'eu' })).toMatchObject({ data: 2 })
    expect(await written()).toEqual(['ChannelsDisabled', 'ChannelsEnabled'])
  })

  it.each(['tag/enabled', 'tag/disabled'])('%s needs a tag that some channel has', async (path) => {
    expect(await post(path, { tag: ' ' })).toMatchObject({ message: '标签不能为空！' })
    expect(await post(path, { tag: 'none' })).toMatchObject({
      ...{ status: 200, success: false, code: 'TagUnknown', message: '标签不存在' },
    })
    expect((await post(path, {})).status).toBe(400)
    expect(await written()).toEqual([])
  })

  it('are changed by one event, and only in the fields given', async () => {
    const body = {
      ...{ tag: 'eu', new_tag: 'west', models: 'x, y,,x', groups: 'vip', priority: 0, weight: 3 },
      ...{ model_mapping: '{"x":"z"}' },
    }
    expect(await putTag(body)).toMatchObject({ success: true, data: 2 })
    const [first, second, third] = await readAll()
    const terms = { tag: 'west', models: 'x,y', group: 'vip', priority: 0, weight: 3 }
    expect(first).toMatchObject({ ...terms, model_mapping: '{"x":"z"}', name: 'c' })
    expect(second).toMatchObject(terms)
    expect(third).toMatchObject({ tag: '', models: 'm', group: 'default' })
    expect(await written()).toEqual(['TagTermsChanged'])
  })

  it('keep their value where a field is empty; an empty new tag removes the tag', async () => {
    const empty = { models: '', groups: '', model_mapping: '', priority: null, weight: null }
    expect(await putTag({ tag: 'eu', ...empty, new_tag: null })).toMatchObject({ data: 0 })
    expect(await putTag({ tag: 'eu', new_tag: '' })).toMatchObject({ data: 2 })
    expect((await readAll()).map(({ tag }) => tag)).toEqual(['', '', ''])
  })

  it.each([
    [{ groups: 'vip,nobody' }, 400, 'groups 无效：分组「nobody」不存在'],
    [{ model_mapping: '{' }, 400, 'model_mapping'],
    [{ priority: 1.5 }, 400, 'priority'],
    [{ priority: '1' }, 400, 'priority'],
    [{ weight: -1 }, 400, 'weight'],
    [{ tag: '' }, 200, '标签不能为空！'],
    [{ tag: 'none' }, 200, '标签不存在'],
  ])('stay unchanged when %j is refused', async (fields, status, message) => {
    const answer = await putTag({ tag: 'eu', priority: 9, ...fields })
    expect(answer).toMatchObject({ status, success: false })
    expect(answer.message).toContain(message)
    expect(await written()).toEqual([])
  })
})

describe('deleting several channels', () => {
  it('needs a selection', async () => {
    expect(await post('batch', { ids: [] })).toMatchObject({
      ...{ status: 200, success: false, message: '请先选择要删除的渠道！' },
    })
    expect(await written()).toEqual([])
  })

  it('deletes all channels, or none if one is unknown, and names that one', async () => {
    const answer = await post('batch', { ids: [999_999, ...ids] })
    expect(answer).toMatchObject({ status: 404, success: false, code: 'ChannelUnknown' })
    expect(answer.message).toBe('渠道未找到，请刷新页面后重试。（#999999）')
    expect((await readAll()).map(({ id }) => id)).toEqual(ids)
    expect(await written()).toEqual([])
  })

  it('writes one event for all disabled channels, as for selected ones by force', async () => {
    await post('batch/status', { ids: ids.slice(1), status: 2 })
    expect(await fixture.admin.call('DELETE', '/api/channel/disabled')).toMatchObject({ data: 2 })
    expect(await post('batch', { ids: ids.slice(0, 1), force: true })).toMatchObject({ data: 1 })
    const counted = ['ChannelSubmissionsPaused', 'ChannelSubmissionsResumed']
    const deleted = [...counted, 'ChannelsDeleted', 'ChannelsDeleted']
    expect(await written()).toEqual(['ChannelsDisabled', ...deleted])
  })

  it('pauses submissions with one event before, so that no task or batch is missed', async () => {
    expect(await post('batch', { ids })).toMatchObject({ data: ids.length })
    const counted = ['ChannelSubmissionsPaused', 'ChannelSubmissionsResumed']
    expect(await written()).toEqual([...counted, 'ChannelsDeleted'])
  })

  it('removes their keys from the vault', async () => {
    await post('batch', { ids })
    const { rows } = await fixture.core.pg.query(
      `select count(*)::int as n from vault.secrets where owner = any($1)`,
      [ids.map((id) => `channel:${id}`)],
    )
    expect(rows).toEqual([{ n: 0 }])
  })
})

describe('repairing the abilities of channels', () => {
  it('writes one event for all relays, and answers the number of channels', async () => {
    const answer = await fixture.admin.call<number>('POST', '/api/channel/fix')
    expect(answer).toMatchObject({ success: true, data: 3 })
    expect(await written()).toEqual(['ChannelAbilitiesFixed'])
  })
})

describe('fifty concurrent requests', () => {
  it('that tag the same channels write one event each or none; the last tag stays', async () => {
    const answers = await fifty((n) => post('batch/tag', { ids, tag: `race-${n % 2}` }))
    expect(answers.every(({ success }) => success)).toBe(true)
    const tags = new Set((await readAll()).map(({ tag }) => tag))
    expect(tags.size).toBe(1)
    const events = await fixture.core.store.readStream(CHANNELS_STREAM)
    const last = events.at(-1)
    expect(last?.data).toMatchObject({ channelIds: ids, tag: [...tags][0] })
  })

  it('that disable and delete channels each apply to all channels or to none', async () => {
    const answers = await fifty((n) =>
      n % 5 === 0 ? post('batch', { ids }) : post('batch/status', { ids, status: 2 - (n % 2) }),
    )
    const deletedTimes = answers.filter((answer, n) => n % 5 === 0 && answer.data === 3)
    expect(deletedTimes).toHaveLength(1)
    for (const { status } of answers) expect([200, 404]).toContain(status)
    const kinds = (await fixture.core.store.readAll(head, 1_000)).map(({ data }) => data)
    for (const data of kinds) expect(data).toMatchObject({ channelIds: ids })
    for (const id of ids) {
      expect((await fixture.admin.call('GET', `/api/channel/${id}`)).status).toBe(404)
    }
  })

  it('that change a tag each apply to all channels of the tag or to none', async () => {
    await fifty((n) => putTag({ tag: 'eu', priority: n, weight: 50 - n }))
    const [first, second] = await readAll()
    expect(first?.priority).toBe(second?.priority)
    expect([first?.weight, second?.weight]).toEqual(Array(2).fill(50 - (first?.priority ?? 0)))
  })
})
