import { beforeEach, describe, expect, it } from 'vitest'
import { FileReaders } from '#relay/batches/limit-file-readers.ts'

const HOUR = 3_600_000
const [ANN, BEN, CLEO, DAN, EVE, FINN] = [1, 2, 3, 4, 5, 6]
let readers: FileReaders
let granted: number[]

beforeEach(() => {
  readers = new FileReaders(HOUR, 0)
  granted = []
})

/** Acquires a reader that is free. */
async function acquired(userId: number): Promise<() => void> {
  const release = await readers.acquire(userId)
  if (release === null) throw new Error(`no reader for user ${userId}`)
  return release
}

/** Waits for a reader, and notes the user once it is granted. */
async function waitFor(userId: number): Promise<(() => void) | null> {
  const release = await readers.acquire(userId)
  if (release !== null) granted.push(userId)
  return release
}

describe('the readers of batch files', () => {
  it('are at most two of one user', async () => {
    await acquired(ANN)
    const release = await acquired(ANN)
    expect(await readers.acquire(ANN)).toBeNull()
    release()
    await acquired(ANN)
  })

  it('are never all taken by two users', async () => {
    await acquired(ANN)
    await acquired(ANN)
    await acquired(BEN)
    expect(await readers.acquire(BEN)).toBeNull()
    await acquired(CLEO)
  })

  it('are waited for by users who have none, in order of arrival', async () => {
    const releases = await Promise.all([ANN, BEN, CLEO, DAN].map(acquired))
    const waiting = [waitFor(EVE), waitFor(FINN)]
    // Users who have a reader get no second one while others wait.
    expect(await readers.acquire(ANN)).toBeNull()
    releases[0]?.()
    const ofEve = await waiting[0]
    expect(granted).toEqual([EVE])
    ofEve?.()
    await waiting[1]
    expect(granted).toEqual([EVE, FINN])
  })

  it('are waited for by one request of a user', async () => {
    const releases = await Promise.all([ANN, BEN, CLEO, DAN].map(acquired))
    const waiting = waitFor(EVE)
    expect(await readers.acquire(EVE)).toBeNull()
    releases[0]?.()
    expect(await waiting).not.toBeNull()
  })

  it('are waited for at most for the given time', async () => {
    readers = new FileReaders(10, 0)
    const releases = await Promise.all([ANN, BEN, CLEO, DAN].map(acquired))
    expect(await readers.acquire(EVE)).toBeNull()
    // A request that waits no longer takes no reader.
    releases[0]?.()
    await acquired(FINN)
  })

  describe('with further requests of users that wait', () => {
    beforeEach(() => {
      readers = new FileReaders(HOUR, HOUR)
    })

    it('serve fifty uploads of one user at once, two at a time', async () => {
      let running = 0
      let most = 0
      const served = Array.from({ length: 50 }, async () => {
        const release = await acquired(ANN)
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        release()
      })
      await Promise.all(served)
      expect(most).toBe(2)
    })

    it('serve users without a reader first, and then the further requests', async () => {
      const releases = await Promise.all([ANN, BEN, CLEO, DAN].map(acquired))
      const further = waitFor(BEN)
      const waiting = waitFor(EVE)
      releases[0]?.()
      const ofEve = await waiting
      expect(granted).toEqual([EVE])
      // One free reader stays for users without one.
      ofEve?.()
      releases[1]?.()
      expect(await further).not.toBeNull()
      expect(granted).toEqual([EVE, BEN])
    })

    it('are waited for by at most 64 further requests of a user and 256 in all', async () => {
      const users = [ANN, BEN, CLEO, DAN]
      const releases = await Promise.all(users.map(acquired))
      const ofUsers = users.map((userId) => Array.from({ length: 64 }, () => waitFor(userId)))
      expect(await readers.acquire(ANN)).toBeNull()
      const ofEve = waitFor(EVE)
      expect(await readers.acquire(EVE)).toBeNull()
      releases[0]?.()
      expect(await ofEve).not.toBeNull()
      expect(ofUsers.flat()).toHaveLength(256)
    })

    it('are no longer waited for by a caller that has left', async () => {
      await acquired(ANN)
      const second = await acquired(ANN)
      const gone = new AbortController()
      const left = readers.acquire(ANN, gone.signal)
      const next = waitFor(ANN)
      gone.abort()
      expect(await left).toBeNull()
      expect(await readers.acquire(BEN, gone.signal)).toBeNull()
      second()
      expect(await next).not.toBeNull()
    })
  })

  it('are at most four, and serve fifty users at once one after the other', async () => {
    let running = 0
    let most = 0
    const served = Array.from({ length: 50 }, async (_, userId) => {
      const release = await acquired(userId)
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      release()
    })
    await Promise.all(served)
    expect(most).toBe(4)
  })
})
