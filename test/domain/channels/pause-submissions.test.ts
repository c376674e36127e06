import { describe, expect, it } from 'vitest'
import type { ChannelEvent } from '#domain/channels/events.ts'
import { areSubmissionsPaused } from '#domain/channels/pause-submissions.ts'
import type { ChannelRecord } from '#domain/channels/state.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { created, given } from './facts.ts'

const NOW = 1_764_000_000_000
const MINUTE = 60_000
const pauseAt = (now: number, pause = 'one') =>
  ({ type: 'PauseSubmissions', channelIds: [4], pause, now }) as const
const resume = (neededAt: number | null, pause = 'one') =>
  ({ type: 'ResumeSubmissions', channelIds: [4], pause, neededAt }) as const
const paused = (pausedAt = NOW, pause = 'one'): ChannelEvent => ({
  type: 'ChannelSubmissionsPaused',
  v: 1,
  data: { channelIds: [4], pause, pausedAt },
})
const resumed: ChannelEvent = {
  type: 'ChannelSubmissionsResumed',
  v: 1,
  data: { channelIds: [4], pause: 'one' },
}

describe('a pause of submissions', () => {
  it('is taken by one request at a time, and a later one may follow', () => {
    given(created()).when(pauseAt(NOW)).then([paused()])
    given(created(), paused()).when(pauseAt(NOW, 'two')).then(codedError('SubmissionsPaused'))
    given(created(), paused(), resumed)
      .when(pauseAt(NOW, 'two'))
      .then([paused(NOW, 'two')])
  })

  it('of a process that died ends by itself after a minute', () => {
    const later = NOW + MINUTE
    given(created(), paused())
      .when(pauseAt(later, 'two'))
      .then([paused(later, 'two')])
    const channel = { pause: { pause: 'one', pausedAt: NOW } } as ChannelRecord
    expect(areSubmissionsPaused(channel, later - 1)).toBe(true)
    expect(areSubmissionsPaused(channel, later)).toBe(false)
  })

  it('is ended only by the request that took it', () => {
    given(created(), paused()).when(resume(null)).then([resumed])
    given(created(), paused()).when(resume(null, 'two')).then([])
    given(created(), paused(), resumed).when(resume(null)).then([])
  })

  it('is relied on only while it is certainly in force', () => {
    const refused = codedError('SubmissionsNotPaused')
    given(created(), paused())
      .when(resume(NOW + 1_000))
      .then([resumed])
    given(created(), paused())
      .when(resume(NOW + 30_000))
      .then(refused)
    given(created(), paused(NOW, 'two')).when(resume(NOW)).then(refused)
    given(created()).when(resume(NOW)).then(refused)
  })

  it('needs a channel that exists', () => {
    given().when(pauseAt(NOW)).then(codedError('ChannelUnknown'))
  })
})
