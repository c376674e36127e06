import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ListEntry, UnorderedList } from '#relay/unordered-list.ts'

const membersOf = (list: UnorderedList<number>): number[] =>
  [...list].map(({ member }) => member).sort((left, right) => left - right)

describe('a dense list', () => {
  it('has the members of a set after any additions and removals', () => {
    const steps = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(20)), { maxLength: 60 })
    const property = fc.property(steps, (all) => {
      const list = new UnorderedList<number>()
      const set = new Set<number>()
      const places: ListEntry<number>[] = []
      for (const [at, step] of all.entries()) {
        if (step === 'add') {
          set.add(at)
          places.push(list.add(at))
        } else {
          const place = places[step]
          if (place === undefined) continue
          set.delete(place.member)
          list.remove(place)
        }
        expect(list.size).toBe(set.size)
        expect(membersOf(list)).toEqual([...set])
      }
    })
    fc.assert(property)
  })

  it('visits every member although members are removed meanwhile', () => {
    const list = new UnorderedList<number>()
    const places = [0, 1, 2, 3, 4].map((member) => list.add(member))
    const seen = new Set<number>()
    for (const place of list) {
      seen.add(place.member)
      list.remove(place)
      if (place.member === 4) list.remove(places[1] as ListEntry<number>)
    }
    expect([...seen].sort()).toEqual([0, 2, 3, 4])
    expect(list.size).toBe(0)
  })

  it('is empty after it is cleared, and ignores places from before', () => {
    const list = new UnorderedList<number>()
    const place = list.add(1)
    list.clear()
    list.add(2)
    list.remove(place)
    expect(membersOf(list)).toEqual([2])
  })
})
