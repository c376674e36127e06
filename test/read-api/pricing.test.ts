import { beforeAll, describe, expect, it, vi } from 'vitest'
import { channels } from '#projections/channels/projection.ts'
import { rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import type { OptionsSchema } from '#read-api/contract/options.ts'
import { isPricePerSecond } from '#read-api/contract/price-unit-by-model-name.ts'
import type { Pricing } from '#read-api/contract/pricing.ts'
import { ownerOf } from '#read-api/pricing/get-pricing.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { budget, shortestMs, startStopwatch } from '#test/support/time-limit.ts'
import { type Caller, seededFixture } from '#test/write-api/write-fixture.ts'

const fixture = startedOnce(seededFixture)

const channel = (body: object) =>
  fixture.admin.call('POST', '/api/channel/', {
    body: { type: 1, key: 'sk-provider', base_url: 'https://api.example', ...body },
  })
const set = async (key: string, value: unknown): Promise<number> => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const answer = await fixture.root.call('PUT', '/api/option/', { body: { key, value: text } })
  expect(answer.message).toBe('')
  return Number(answer.headers['x-position'])
}
const ask = async (call: Caller, after = 0): Promise<Pricing> =>
  (await call('GET', '/api/pricing', {
    headers: { 'x-after-position': String(after) },
  })) as unknown as Pricing
const named = ({ data }: Pricing, name: string) =>
  data.find(({ model_name }) => model_name === name)

beforeAll(async () => {
  await set('GroupRatio', { default: 1, vip: 0.8, inner: 0.5 })
  await set('UserUsableGroups', { default: 'Standard', vip: 'Faster' })
  await set('GroupGroupRatio', { inner: { vip: 0.6 } })
  await set('ModelRatio', { 'sim-small': 0.075, 'sim-inner': 3 })
  await set('CompletionRatio', { 'sim-small': 4 })
  await set('CacheRatio', { 'sim-small': 0.5 })
  await set('ModelPrice', { 'sim-draw': 0.04 })
  const models = 'sim-small,sim-draw,sim-unpriced'
  const { id } = fixture.user
  await channel({ name: 'a', models, group: 'default,vip' })
  await channel({ name: 'b', models: 'sim-inner', group: 'inner' })
  const { data } = await fixture.root.call<object>('GET', `/api/user/${id}`)
  await fixture.root.call('PUT', '/api/user/', { body: { ...data, group: 'inner' } })
})

describe('GET /api/pricing', () => {
  it('shows visitors the prices of the default group, and no private group', async () => {
    const answer = await ask(fixture.anybody, await fixture.head())
    expect(answer).toMatchObject({
      ...{ success: true, message: '', user_group: 'default' },
      group_ratio: { default: 1, vip: 0.8 },
      usable_group: {
        default: { desc: 'Standard', ratio: 1 },
        vip: { desc: 'Faster', ratio: 0.8 },
      },
    })
    expect(answer.data.map(({ model_name }) => model_name)).toEqual(['sim-draw', 'sim-small'])
    expect(named(answer, 'sim-small')).toEqual({
      ...{
        model_name: 'sim-small',
        owner_by: '',
        quota_type: 0,
        enable_groups: ['default', 'vip'],
      },
      ...{ model_ratio: 0.075, completion_ratio: 4, model_price: 0 },
      ...{ cache_ratio: 0.5, create_cache_ratio: 1, batch_ratio: 0.5 },
    })
    expect(named(answer, 'sim-draw')).toMatchObject({ quota_type: 1, model_price: 0.04 })
    expect(JSON.stringify(answer)).not.toMatch(/inner|provider|api\.example/)
  })

  it('shows users their own groups, with the ratio that their group pays in each', async () => {
    const answer = await ask(fixture.user.call)
    expect(answer.user_group).toBe('inner')
    expect(answer.group_ratio).toEqual({ default: 1, vip: 0.6, inner: 0.5 })
    expect(named(answer, 'sim-inner')).toMatchObject({ model_ratio: 3, enable_groups: ['inner'] })
    // A cookie without its user's id, and what is void, is a visitor's call.
    const { cookie } = fixture.user
    const { body } = await fixture.app.inject({ url: '/api/pricing', headers: { cookie } })
    expect(JSON.parse(body)).toMatchObject({ user_group: 'default' })
  })

  it('shows the ratio of batches only for models whose channels take batches', async () => {
    // DeepSeek has no batches, and OpenAI none of speech.
    const deepSeek = { type: 43, models: 'sim-deep,sim-small', group: 'default' }
    await channel({ name: 'without batches', ...deepSeek })
    await channel({ name: 'speech', models: 'tts-1-sim,text-embedding-sim', group: 'default' })
    const vip = { type: 14, models: 'sim-deep', group: 'inner' }
    await channel({ name: 'batches of another group', ...vip })
    const ratios = { 'sim-small': 0.075, 'sim-inner': 3, 'sim-deep': 1, 'tts-1-sim': 1 }
    await set('ModelRatio', { ...ratios, 'text-embedding-sim': 1 })
    const position = await set('BatchRatio', '0.4')
    const answer = await ask(fixture.anybody, position)
    const shown = answer.data.map(({ model_name, batch_ratio }) => [model_name, batch_ratio])
    expect(Object.fromEntries(shown)).toMatchObject({
      // A price per call is multiplied as well.
      ...{ 'sim-small': 0.4, 'text-embedding-sim': 0.4, 'sim-draw': 0.4 },
      ...{ 'sim-deep': undefined, 'tts-1-sim': undefined },
    })
    expect(named(await ask(fixture.user.call), 'sim-deep')).toMatchObject({ batch_ratio: 0.4 })
    await set('BatchRatio', '0.5')
  })

  it('shows the ratio of batches for every kind of model that a batch may call', async () => {
    const omni = 'omni-moderation-latest'
    const models = `gpt-image-1,whisper-1,gpt-realtime-2,text-embedding-3-small,${omni}`
    await channel({ name: 'kinds', models, group: 'default' })
    const ofGemini = { type: 24, models: 'gemini-embedding-001,gemini-2.5-flash' }
    await channel({ name: 'kinds of Gemini', ...ofGemini, group: 'default' })
    const position = await set('ModelRatio', { 'sim-small': 0.075, 'sim-inner': 3, [omni]: 1 })
    const { data } = await ask(fixture.anybody, position)
    const ratioOf = ({ model_name, batch_ratio }: (typeof data)[number]) =>
      [model_name, batch_ratio] as const
    expect(Object.fromEntries(data.map(ratioOf))).toMatchObject({
      ...{ 'gpt-image-1': 0.5, [omni]: 0.5, 'text-embedding-3-small': 0.5 },
      ...{ 'whisper-1': undefined, 'gpt-realtime-2': undefined },
      // Gemini has batches of chats, and none of embeddings.
      ...{ 'gemini-2.5-flash': 0.5, 'gemini-embedding-001': undefined },
    })
    await set('ModelRatio', { 'sim-small': 0.075, 'sim-inner': 3 })
    const { data: channels } = await fixture.admin.call<{ items: { id: number; name: string }[] }>(
      'GET',
      '/api/channel/?page_size=100',
    )
    const added = channels.items.filter(({ name }) => name.startsWith('kinds'))
    for (const { id } of added) await fixture.admin.call('DELETE', `/api/channel/${id}`)
  })

  it('shows the ratios of images and audio of models that have them', async () => {
    const models =
      'gpt-image-1,gpt-realtime-2,gemini-3-pro-image,gpt-4o-mini-tts,sim-media,sim-text'
    await channel({ name: 'media', models, group: 'default' })
    const ratios = { 'sim-small': 0.075, 'sim-inner': 3, 'sim-media': 2, 'sim-text': 2 }
    await set('ModelRatio', ratios)
    const completion = await set('CompletionRatio', { 'sim-small': 4, 'sim-media': 3 })
    await set('ImageRatio', { 'sim-media': 1, 'sim-text': 1 })
    await set('AudioRatio', { 'sim-text': 1, 'sim-draw': 8 })
    await set('AudioCompletionRatio', { 'sim-media': 5 })
    const position = await set('ImageCompletionRatio', { 'sim-media': 3 })
    const { data } = await ask(fixture.anybody, Math.max(completion, position))
    const shown = data.map(({ model_name, ...price }) => {
      const ofMedia = Object.entries(price).filter(([key]) => /^(?:image|audio)_/.test(key))
      return [model_name, Object.fromEntries(ofMedia)]
    })
    expect(Object.fromEntries(shown)).toMatchObject({
      'gpt-image-1': { image_ratio: 2, image_completion_ratio: 8 },
      'gpt-realtime-2': { image_ratio: 1.25, audio_ratio: 8, audio_completion_ratio: 2 },
      'gemini-3-pro-image': { image_completion_ratio: 60 },
      'gpt-4o-mini-tts': { audio_ratio: 1, audio_completion_ratio: 20 },
      'sim-media': { image_completion_ratio: 3, audio_ratio: 1, audio_completion_ratio: 5 },
    })
    const others = Object.fromEntries(shown)
    for (const name of ['sim-text', 'sim-draw', 'sim-small']) expect(others[name]).toEqual({})
  })

  it('shows the context tiers of a model, and refuses invalid ones', async () => {
    const tier = { above_input_tokens: 1_000, input_ratio: 2, output_ratio: 1.5 }
    const position = await set('ContextTierRatio', { 'sim-small': [tier] })
    const answer = await ask(fixture.anybody, position)
    expect(named(answer, 'sim-small')).toMatchObject({ context_tiers: [tier] })
    const value = JSON.stringify({ 'sim-small': [{ ...tier, input_ratio: 0.5 }] })
    const body = { key: 'ContextTierRatio', value }
    const refused = await fixture.root.call('PUT', '/api/option/', { body })
    expect(refused).toMatchObject({ success: false })
    expect(refused.message).toContain('sim-small')
  })

  it('shows moderations without a price as free, as the relay serves them', async () => {
    const models = 'omni-moderation-latest'
    const { headers } = await channel({ name: 'moderations', models, group: 'default' })
    const answer = await ask(fixture.anybody, Number(headers['x-position']))
    expect(named(answer, models)).toMatchObject({ quota_type: 1, model_price: 0 })
    const { data } = await fixture.user.call<string[]>('GET', '/api/user/models')
    expect(data).toContain(models)
  })

  it('shows the price of chats with a model that is only named like a moderation', async () => {
    const models = 'content-moderation-gpt4o'
    await channel({ name: 'named like moderations', models, group: 'default' })
    await set('fallback_single_price', '0.03')
    const on = await set('fallback_pricing_enabled', 'true')
    const shown = named(await ask(fixture.anybody, on), models)
    const off = await set('fallback_pricing_enabled', 'false')
    expect(shown).toMatchObject({ quota_type: 1, model_price: 0.03 })
    // Without the fallback price, its chats are refused, and only its moderations are possible.
    const isFree = { quota_type: 1, model_price: 0 }
    expect(named(await ask(fixture.anybody, off), models)).toMatchObject(isFree)
  })

  it('tells that a price is one of a second of video, and not of a call', async () => {
    await channel({ name: 'videos', models: 'sora-2', group: 'default' })
    const { data: schema } = await fixture.root.call<OptionsSchema>('GET', '/api/option/schema')
    const [option] = schema.options.filter(({ key }) => key === 'ModelPrice')
    const perSecond = [
      'sora-2',
      'sora-2-2025-12-08',
      'sora-2x',
      'MiniMax-Hailuo-02',
      'sim-draw',
    ].filter((model) => option !== undefined && isPricePerSecond(option, model))
    expect(perSecond).toEqual(['sora-2', 'sora-2-2025-12-08'])
    const position = await set('ModelPrice', { 'sim-draw': 0.04, 'sora-2': 0.1 })
    const answer = await ask(fixture.anybody, position)
    const price = { quota_type: 1, model_price: 0.1, price_per: 'second' }
    expect(named(answer, 'sora-2')).toMatchObject(price)
    expect(named(answer, 'sim-draw')).not.toHaveProperty('price_per')
  })

  it('takes the unit of a price from the channels that serve the model', async () => {
    const prices = { 'sim-draw': 0.04, 'sora-2': 0.1, film: 0.2, 'wan2.6': 0.3, 'kling-v2-6': 0.4 }
    await set('ModelPrice', prices)
    const group = 'default,vip'
    const mapping = { film: 'latest', latest: 'sora-2' }
    const model_mapping = JSON.stringify(mapping)
    await channel({ name: 'mapped', models: 'film', group, model_mapping })
    await channel({ name: 'wan', type: 17, models: 'wan2.6', group })
    // A compatible provider serves this name by chats, which are billed per call.
    const { headers } = await channel({ name: 'plain', models: 'kling-v2-6', group })
    const answer = await ask(fixture.anybody, Number(headers['x-position']))
    const perSecond = ['film', 'wan2.6', 'sora-2']
    for (const name of perSecond) {
      expect(named(answer, name)).toMatchObject({ model_price: prices[name as never] })
      expect(named(answer, name)).toMatchObject({ quota_type: 1, price_per: 'second' })
      expect(named(answer, name)).not.toHaveProperty('price_units')
    }
    for (const name of ['kling-v2-6', 'sim-draw']) {
      expect(named(answer, name)).toMatchObject({ quota_type: 1 })
      expect(named(answer, name)).not.toHaveProperty('price_per')
      expect(named(answer, name)).not.toHaveProperty('price_units')
    }
  })

  it('names both units, by group, if the channels of a model differ', async () => {
    const kling = { type: 50, key: 'access|secret', models: 'kling-v2-6' }
    const { headers } = await channel({ ...kling, name: 'kling', group: 'default,inner' })
    const seen = async (call: Caller, after = 0) => named(await ask(call, after), 'kling-v2-6')
    const shown = await seen(fixture.anybody, Number(headers['x-position']))
    expect(shown).toMatchObject({ price_units: { default: ['call', 'second'], vip: ['call'] } })
    expect(shown).not.toHaveProperty('price_per')
    expect(shown?.price_units).not.toHaveProperty('inner')
    expect((await seen(fixture.user.call))?.price_units).toMatchObject({ inner: ['second'] })
    const { data } = await fixture.admin.call<Record<string, unknown>>(
      ...(['GET', '/api/option/price_units'] as const),
    )
    expect(data).toMatchObject({ film: ['second'], 'kling-v2-6': ['call', 'second'] })
    expect(data).not.toHaveProperty('sora-2')
    expect(data).not.toHaveProperty('sim-draw')
  })

  it('shows another unit as soon as the channel is mapped, deleted or disabled', async () => {
    const { data } = await fixture.admin.call<{ items: { id: number; name: string }[] }>(
      ...(['GET', '/api/channel/?page_size=100'] as const),
    )
    const idOf = (name: string) => data.items.find((one) => one.name === name)?.id
    const change = async (body: object) =>
      Number((await fixture.admin.call('PUT', '/api/channel/', { body })).headers['x-position'])
    const unmapped = await change({ id: idOf('mapped'), model_mapping: '' })
    expect(named(await ask(fixture.anybody, unmapped), 'film')).not.toHaveProperty('price_per')
    const disabled = await change({ id: idOf('plain'), status: 2 })
    const kling = named(await ask(fixture.anybody, disabled), 'kling-v2-6')
    expect(kling).toMatchObject({ price_per: 'second', enable_groups: ['default'] })
    await change({ id: idOf('plain'), status: 1 })
    const { headers } = await fixture.admin.call('DELETE', `/api/channel/${idOf('kling')}`)
    const after = await ask(fixture.anybody, Number(headers['x-position']))
    expect(named(after, 'kling-v2-6')).not.toHaveProperty('price_per')
    expect(named(after, 'kling-v2-6')).not.toHaveProperty('price_units')
  })

  it('reads the site once at a time, also for fifty visitors who await a change', async () => {
    const { db } = fixture.core
    const any = db.any.bind(db)
    const held = Promise.withResolvers<void>()
    const reads = { running: 0, atOnce: 0, all: 0 }
    vi.spyOn(db, 'any').mockImplementation(async (query) => {
      if (!query.sql.includes('array_agg(distinct g.name')) return await any(query)
      reads.running += 1
      reads.all += 1
      reads.atOnce = Math.max(reads.atOnce, reads.running)
      if (reads.all === 1) await held.promise
      const rows = await any(query)
      reads.running -= 1
      return rows
    })
    const first = ask(fixture.anybody, await set('ModelPrice', { 'sim-draw': 0.03 }))
    await expect.poll(() => reads.all).toBe(1)
    const next = (await fixture.head()) + 1
    const waiting = Array.from({ length: 50 }, () => ask(fixture.anybody, next))
    expect(await set('ModelPrice', { 'sim-draw': 0.04 })).toBe(next)
    // These requests are released by the same commit as the fifty, and after them.
    await fixture.freshness.waitFor(['channels', 'options', 'users'], next, 2_000)
    await fixture.anybody('GET', '/api/status')
    held.resolve()
    await first
    for (const answer of await Promise.all(waiting)) {
      expect(named(answer, 'sim-draw')?.model_price).toBe(0.04)
    }
    expect(reads).toEqual({ running: 0, atOnce: 1, all: 2 })
  })

  it('shows the right unit of a channel after a rebuild of a row that was wrong', async () => {
    const { core, freshness } = fixture
    const { data } = await fixture.admin.call<{ items: { id: number; name: string }[] }>(
      ...(['GET', '/api/channel/?page_size=100'] as const),
    )
    const id = data.items.find(({ name }) => name === 'mapped')?.id
    const body = { id, model_mapping: '{"film":"sora-2"}' }
    await set('ModelPrice', { 'sim-draw': 0.04, film: 0.2 })
    const { headers } = await fixture.admin.call('PUT', '/api/channel/', { body })
    const position = Number(headers['x-position'])
    await freshness.waitFor(['channels'], position, 2_000)
    await core.pg.query(`update read_channels.channels set model_mapping = '' where id = $1`, [id])
    const wrong = named(await ask(fixture.anybody, position), 'film')
    expect(wrong).toMatchObject({ model_price: 0.2 })
    expect(wrong).not.toHaveProperty('price_per')
    await rebuildReadModels(core, [channels], foldContext(core))
    const film = async () => named(await ask(fixture.anybody), 'film')
    await expect.poll(film, { interval: 50 }).toMatchObject({ price_per: 'second' })
    await set('ModelPrice', { 'sim-draw': 0.04 })
  })

  it('shows models without a price to users who accept them', async () => {
    const body = { notify_type: 'email', accept_unset_model_ratio_model: true }
    const { headers } = await fixture.user.call('PUT', '/api/user/setting', { body })
    const answer = await ask(fixture.user.call, Number(headers['x-position']))
    expect(named(answer, 'sim-unpriced')).toMatchObject({ quota_type: 0, model_ratio: 37.5 })
    // Their chats with a model that is named like a moderation are charged too.
    expect(named(answer, 'content-moderation-gpt4o')).toMatchObject({ model_ratio: 37.5 })
  })

  it('never shows them a video without a price, because the relay refuses it', async () => {
    const kling = { type: 50, key: 'access|secret', models: 'kling-v9,both' }
    await channel({ ...kling, name: 'unpriced videos', group: 'default,vip' })
    const plain = { name: 'unpriced calls', models: 'both', group: 'vip' }
    const { headers } = await channel(plain)
    const answer = await ask(fixture.user.call, Number(headers['x-position']))
    expect(named(answer, 'kling-v9')).toBeUndefined()
    expect(named(answer, 'both')).toMatchObject({ model_ratio: 37.5, enable_groups: ['vip'] })
    const position = await set('ModelPrice', { 'sim-draw': 0.04, 'kling-v9': 0.1 })
    const priced = named(await ask(fixture.user.call, position), 'kling-v9')
    expect(priced).toMatchObject({ model_price: 0.1, price_per: 'second' })
  })

  it('shows no price per token of a video in self-use mode, as it is refused', async () => {
    const hailuo = { type: 35, models: 'MiniMax-Hailuo-9', group: 'default' }
    await channel({ ...hailuo, name: 'videos per call' })
    await channel({ name: 'tokens', type: 54, models: 'doubao-seedance-9', group: 'default' })
    const kling = { type: 50, key: 'access|secret', models: 'kling-self-use', group: 'default,vip' }
    await channel({ ...kling, name: 'videos per second' })
    await channel({ name: 'calls too', models: 'kling-self-use', group: 'vip' })
    const on = await set('SelfUseModeEnabled', 'true')
    try {
      for (const answer of [await ask(fixture.anybody, on), await ask(fixture.user.call, on)]) {
        expect(named(answer, 'MiniMax-Hailuo-9')).toBeUndefined()
        expect(named(answer, 'kling-self-use')?.enable_groups).toEqual(['vip'])
        expect(named(answer, 'doubao-seedance-9')).toMatchObject({ quota_type: 0 })
        expect(named(answer, 'sim-unpriced')).toMatchObject({ quota_type: 0, model_ratio: 37.5 })
      }
      const priced = await set('ModelPrice', { 'sim-draw': 0.04, 'MiniMax-Hailuo-9': 0.2 })
      const shown = named(await ask(fixture.anybody, priced), 'MiniMax-Hailuo-9')
      expect(shown).toMatchObject({ quota_type: 1, model_price: 0.2 })
    } finally {
      await set('SelfUseModeEnabled', 'false')
      await set('ModelPrice', { 'sim-draw': 0.04 })
    }
  })

  it('tells the ratios of the price of a video, and which video is the default', async () => {
    const group = 'default'
    await channel({ name: 'ratios 1', type: 17, models: 'wan2.5-t2v-preview', group })
    await channel({ name: 'ratios 2', type: 35, models: 'MiniMax-Hailuo-02', group })
    const kling = { type: 50, key: 'access|secret', group }
    await channel({ ...kling, name: 'ratios 3', models: 'kling-v2-6,kling-v2-master' })
    const mapped = { models: 'film-2', model_mapping: '{"film-2":"wan2.5-t2v-preview"}' }
    await channel({ name: 'ratios 4', type: 17, group, ...mapped })
    const names = ['wan2.5-t2v-preview', 'MiniMax-Hailuo-02', 'kling-v2-6', 'kling-v2-master']
    const prices = [...names, 'film-2'].map((name) => [name, 0.05])
    const position = await set('ModelPrice', { 'sim-draw': 0.04, ...Object.fromEntries(prices) })
    const ratiosOf = async (name: string, after = 0) =>
      named(await ask(fixture.anybody, after), name)?.video_ratios
    const ofWan = {
      resolutions: { '480p': 1, '720p': 2, '1080p': 3 },
      ...{ options: {}, default: { resolution: '1080p', options: [], ratio: 3 } },
    }
    expect(await ratiosOf('wan2.5-t2v-preview', position)).toEqual(ofWan)
    expect(await ratiosOf('film-2')).toEqual(ofWan)
    expect(await ratiosOf('MiniMax-Hailuo-02')).toMatchObject({
      resolutions: { '768p 6s': 1, '768p 10s': 2, '1080p 6s': 1.75 },
      default: { resolution: '768p 6s', ratio: 1 },
    })
    expect(await ratiosOf('kling-v2-6')).toMatchObject({
      ...{ resolutions: {}, options: { pro: 1.6666666667, audio: 2 } },
      default: { resolution: null, options: [], ratio: 1 },
    })
    for (const name of ['kling-v2-master', 'sim-draw']) expect(await ratiosOf(name)).toBeUndefined()
    // Another channel bills the same name by other ratios, so no ratio is certain.
    const other = { name: 'ratios 5', type: 17, models: 'film-2', group }
    const { headers } = await channel({ ...other, model_mapping: '{"film-2":"wan2.6-t2v"}' })
    expect(await ratiosOf('film-2', Number(headers['x-position']))).toBeUndefined()
    await set('ModelPrice', { 'sim-draw': 0.04 })
  })

  it('shows a changed price at once to its author, and within a second to all others', async () => {
    const seen = async (after = 0) => named(await ask(fixture.anybody, after), 'sim-draw')
    expect((await seen())?.model_price).toBe(0.04)
    const position = await set('ModelPrice', { 'sim-draw': 0.05 })
    const elapsedMs = startStopwatch()
    expect((await seen(position))?.model_price).toBe(0.05)
    await set('ModelPrice', { 'sim-draw': 0.06 })
    await expect.poll(async () => (await seen())?.model_price, { interval: 50 }).toBe(0.06)
    expect(elapsedMs()).toBeLessThan(budget(1_500))
  })

  it('shows a changed price at once even if another caller sent a position far ahead', async () => {
    const seen = async (after: number) => named(await ask(fixture.anybody, after), 'sim-draw')
    expect((await seen(Number.MAX_SAFE_INTEGER))?.model_price).toBe(0.06)
    const position = await set('ModelPrice', { 'sim-draw': 0.07 })
    expect((await seen(position))?.model_price).toBe(0.07)
  })

  it('answers 20 simultaneous requests with 2 000 models in 60 ms each', async () => {
    const names = Array.from({ length: 2_000 }, (_, n) => `bulk-${n}`)
    await set('ModelRatio', Object.fromEntries(names.map((name, n) => [name, n / 1_000])))
    for (const part of [0, 1, 2, 3]) {
      const models = names.slice(part * 500, part * 500 + 500).join(',')
      await channel({ name: `bulk ${part}`, models, group: 'default' })
    }
    const head = await fixture.head()
    expect((await ask(fixture.anybody, head)).data.length).toBeGreaterThanOrEqual(2_000)
    const askAtOnce = () => Promise.all(Array.from({ length: 20 }, () => ask(fixture.anybody)))
    expect((await shortestMs(askAtOnce, budget(20 * 60), 1)) / 20).toBeLessThan(budget(60))
  })
})

it.each([
  ['gpt-4o-mini', 'OpenAI'],
  ['o3-mini', 'OpenAI'],
  ['openrouter/anthropic/claude-sonnet-4', 'Anthropic'],
  ['Qwen2.5-72B', 'Alibaba'],
  ['text-embedding-v3', 'Alibaba'],
  ['text-embedding-3-small', 'OpenAI'],
  ['constructor', ''],
  ['kling-v2-6', 'Kuaishou'],
  ['viduq2', 'Shengshu'],
  ['jimeng_t2v_v30', 'ByteDance'],
  ['MiniMax-Hailuo-02', 'MiniMax'],
  ['T2V-01', 'MiniMax'],
  ['image-01', 'MiniMax'],
  ['z-image-turbo', 'Alibaba'],
  ['Kwai-Kolors/Kolors', 'Kuaishou'],
])('%s is a model of %s', (model, owner) => expect(ownerOf(model)).toBe(owner))
