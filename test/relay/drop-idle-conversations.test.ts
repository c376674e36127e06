import { describe, expect, it } from 'vitest'
import { IdleConversations } from '#relay/responses-socket/drop-idle-conversations.ts'

/** Returns a function that adds a conversation with a name, and the names of those dropped. */
function conversations() {
  const idle = new IdleConversations(100, 60)
  const dropped: string[] = []
  const add = (name: string, userId: number, bytes: number) => {
    const holder = { dropConversation: () => void dropped.push(name) }
    idle.add(holder, userId, bytes)
    return holder
  }
  return { idle, dropped, add }
}

describe('idle conversations', () => {
  it('the oldest ones of a user are dropped above the share of the user', () => {
    const { dropped, add } = conversations()
    add('other', 2, 30)
    add('first', 1, 30)
    add('second', 1, 30)
    expect(dropped).toEqual([])
    add('third', 1, 20)
    expect(dropped).toEqual(['first'])
  })

  it('the oldest ones of all users are dropped above the total', () => {
    const { dropped, add } = conversations()
    add('first', 1, 50)
    add('second', 2, 50)
    add('third', 3, 50)
    expect(dropped).toEqual(['first'])
  })

  it('one that was continued is the newest', () => {
    const { idle, dropped, add } = conversations()
    const first = add('first', 1, 30)
    add('second', 1, 30)
    idle.add(first, 1, 30)
    add('third', 1, 20)
    expect(dropped).toEqual(['second'])
  })

  it('one whose socket makes a call is not dropped and does not count', () => {
    const { idle, dropped, add } = conversations()
    idle.remove(add('first', 1, 60))
    add('second', 1, 60)
    expect(dropped).toEqual([])
  })

  it('one above the share of its user is dropped at once', () => {
    const { dropped, add } = conversations()
    add('long', 1, 61)
    add('short', 1, 60)
    expect(dropped).toEqual(['long'])
  })
})
