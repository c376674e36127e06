import { afterEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '#console/api/api-error.ts'
import { request as english } from '#console/i18n/en/request.ts'
import {
  dismissErrors,
  dismissLocalErrors,
  dismissPageToasts,
  dismissToast,
  showError,
  showInfo,
  shownToasts,
  showSuccess,
} from '#console/ui/messages/toast.ts'
import { httpError } from '#infra/http/http-errors.ts'

afterEach(() => {
  for (const { id } of shownToasts()) dismissToast(id)
})

const messages = () => shownToasts().map(({ message }) => message)

describe('toasts', () => {
  it('are at most three: the oldest goes', () => {
    for (const text of ['a', 'b', 'c', 'd']) showInfo(text)
    expect(messages()).toEqual(['b', 'c', 'd'])
  })

  it('that say the same are one with a count, and only when they mean the same', () => {
    for (let time = 0; time < 9; time += 1) showError(new Error('no'))
    showSuccess('no')
    expect(shownToasts().map(({ tone, count }) => [tone, count])).toEqual([
      ['error', 9],
      ['success', 1],
    ])
  })

  it("carry the request id and the server's own words beside the spec's", () => {
    const details = { code: 'X', status: 500, requestId: 'req-7', detail: 'disk is full' }
    showError(new ApiError('Error: internal server error', details))
    expect(shownToasts()[0]).toMatchObject({ requestId: 'req-7', detail: 'disk is full' })
    showError(new ApiError('Error: disk is full', details))
    expect(shownToasts()[1]).toMatchObject({ detail: '' })
    // Of a demonstration both say the same in English.
    const demo = { code: 'DemoSite', status: 405, detail: httpError('DemoSite').words.en }
    expect(new ApiError(english.noServer, demo).detail).toBe('')
  })

  it('of what failed go with a success after it, but not with one of the same act', () => {
    vi.useFakeTimers()
    showError(new Error('name is taken'))
    vi.advanceTimersByTime(500)
    showSuccess('the rest is saved')
    expect(messages()).toEqual(['name is taken', 'the rest is saved'])
    vi.advanceTimersByTime(2_000)
    showSuccess('saved')
    vi.useRealTimers()
    expect(messages()).toEqual(['the rest is saved', 'saved'])
  })

  it('of what failed go with a success after it, also when the clock was set back', () => {
    vi.useFakeTimers()
    showError(new Error('name is taken'))
    vi.advanceTimersByTime(2_000)
    vi.setSystemTime(Date.now() - 3_600_000)
    showSuccess('saved')
    vi.useRealTimers()
    expect(messages()).toEqual(['saved'])
  })

  it('of what was refused go as it is tried anew or given up, but not in the same moment', () => {
    vi.useFakeTimers()
    showError(new Error('name is taken'))
    dismissErrors()
    expect(messages()).toEqual(['name is taken'])
    vi.advanceTimersByTime(2_000)
    showInfo('stays')
    dismissErrors()
    vi.useRealTimers()
    expect(messages()).toEqual(['stays'])
  })

  it('of the console itself go with what they ask for, but not those of the server', () => {
    const details = { code: 'X', status: 500, requestId: 'req-8', detail: '' }
    showError(new ApiError('failed', details))
    showError('choose some first')
    dismissLocalErrors()
    expect(messages()).toEqual(['failed'])
  })

  it('about a page go as it is left, but not what leads on or can be undone', () => {
    showError(new Error('about the page'))
    showSuccess('logged in', { goesAlong: true })
    showSuccess('disabled', { action: { text: 'Undo', onClick: () => {} } })
    dismissPageToasts()
    showSuccess('finished since')
    expect(messages()).toEqual(['logged in', 'disabled', 'finished since'])
  })
})
