import { describe, expect, it } from 'vitest'
import { draftOfTag, tagChange, validateTag } from '#console/features/channels/tags/tag-draft.ts'
import { runConcurrently } from '#console/features/channels/testing/run-model-tests.ts'
import { byTag, channel } from '../support/channel-routes.ts'

const channels = [
  channel({ id: 1, tag: 'a', priority: 1, models: 'x,y' }),
  channel({ id: 2, tag: 'a', priority: 2, models: 'x,y' }),
]
const [group] = byTag(channels)
if (group === undefined || !('children' in group)) throw new Error('no tag')
const before = draftOfTag(group, channels)

describe('the form of a tag', () => {
  it('shows the values that all its channels share, and nothing where they differ', () => {
    expect(before).toMatchObject({ newTag: 'a', models: ['x', 'y'], priority: '', weight: '5' })
  })

  it('requires an integer priority, a natural weight and a JSON object as mapping', () => {
    const wrong = { ...before, priority: '1.5', weight: '-1', modelMapping: '{' }
    expect(validateTag(wrong)).toEqual({
      priority: 'notInteger',
      weight: 'notNatural',
      modelMapping: 'notJson',
    })
    expect(validateTag({ ...before, priority: '-3', weight: '' })).toEqual({})
  })

  it('sends only changes; an emptied field is left unchanged, an emptied tag is removed', () => {
    expect(tagChange('a', before, before)).toBeNull()
    expect(tagChange('a', before, { ...before, models: [], weight: '' })).toBeNull()
    expect(tagChange('a', before, { ...before, newTag: ' ', priority: '0' })).toEqual({
      tag: 'a',
      new_tag: '',
      priority: 0,
    })
  })
})

describe('tests of several models', () => {
  it('at most three tests run at a time, and no more start after a stop', async () => {
    const stop = new AbortController()
    let running = 0
    let most = 0
    const done: string[] = []
    const perform = async (model: string) => {
      running += 1
      most = Math.max(most, running)
      await Promise.resolve()
      running -= 1
      done.push(model)
      if (done.length === 4) stop.abort()
    }
    await runConcurrently(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'], perform, stop.signal)
    expect(most).toBe(3)
    expect(done.length).toBeGreaterThanOrEqual(4)
    expect(done.length).toBeLessThan(9)
  })
})
