import { Subject } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { batchPerFrame } from '#console/api/live/batch-per-frame.ts'

function rig(capacity: number) {
  const source = new Subject<string>()
  const batches: (readonly string[])[] = []
  let frame: (() => void) | null = null
  const running = batchPerFrame(source, capacity, 'overflow', (draw) => {
    frame = draw
    return () => {
      frame = null
    }
  }).subscribe((batch) => batches.push(batch))
  const draw = () => {
    const due = frame
    frame = null
    due?.()
  }
  return { source, batches, draw, running, isDue: () => frame !== null }
}

describe('events batched per frame', () => {
  it('arrive in one list per frame, in order', () => {
    const { source, batches, draw } = rig(10)
    for (const name of ['a', 'b', 'c']) source.next(name)
    expect(batches).toEqual([])
    draw()
    source.next('d')
    draw()
    expect(batches).toEqual([['a', 'b', 'c'], ['d']])
  })

  it('are dropped beyond the capacity, which is reported once', () => {
    const { source, batches, draw } = rig(3)
    for (let index = 0; index < 1_000; index += 1) source.next(`${index}`)
    draw()
    expect(batches).toEqual([['overflow']])
    source.next('after')
    draw()
    expect(batches.at(-1)).toEqual(['after'])
  })

  it('leave no frame scheduled after the listener unsubscribes', () => {
    const { source, running, isDue } = rig(3)
    source.next('a')
    expect(isDue()).toBe(true)
    running.unsubscribe()
    expect(isDue()).toBe(false)
  })
})
