import { describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { videosRig } from './videos-rig.ts'

const rig = startedForEach(() => videosRig())
const MODEL = 'sora-2'

const submit = (model = MODEL) => {
  rig.vendor.answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
  return rig.post('/v1/videos', { model, prompt: 'the sea' })
}

describe('a limit of a model at tasks', () => {
  it('counts videos as calls of their model, fifty at once', async () => {
    await rig.setOption('OpenTasksMax', '100')
    await rig.setOption('RateLimitsByModel', { [MODEL]: { calls: 7 } })
    const all = await Promise.all(Array.from({ length: 50 }, () => submit()))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(7)
    const limited = all.filter(({ status }) => status === 429)
    expect(limited).toHaveLength(43)
    expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(rig.vendor.requests.filter(({ method }) => method === 'POST')).toHaveLength(7)
    expect((await submit('sora-2-pro')).status).toBe(200)
  })
})
