import { describe, expect, it } from 'vitest'
import { CountQueue } from '#relay/token-counts/count-queue.ts'

const BOUNDS = { bytesMax: 100, lengthMax: 10, userBytesMax: 60, userLengthMax: 6 }

type Job = { readonly userId: number; readonly bytes: number; readonly name: string }

const job = (userId: number, bytes: number, name = ''): Job => ({ userId, bytes, name })

function queueOf(...jobs: Job[]): CountQueue<Job> {
  const queue = new CountQueue<Job>(BOUNDS)
  for (const one of jobs) expect(queue.add(one)).toEqual([])
  return queue
}

describe('queue of token counts', () => {
  it('alternates between users and keeps each user’s jobs in order', () => {
    const queue = queueOf(job(1, 1, 'a'), job(1, 1, 'b'), job(1, 1, 'c'), job(2, 1, 'd'))
    const names: string[] = []
    for (let next = queue.next(); next !== null; next = queue.next()) {
      names.push(next.name)
      queue.remove(next)
    }
    expect(names).toEqual(['a', 'd', 'b', 'c'])
    expect(queue).toMatchObject({ bytes: 0, length: 0 })
  })

  it('repeats a job that is not removed after those of other users', () => {
    const queue = queueOf(job(1, 1, 'a'), job(2, 1, 'b'), job(1, 1, 'c'))
    expect([1, 2, 3, 4].map(() => queue.next()?.name)).toEqual(['a', 'b', 'a', 'b'])
  })

  it('refuses jobs beyond one user’s share of bytes and length', () => {
    const queue = queueOf(job(1, 60))
    const large = job(1, 1)
    expect(queue.add(large)).toEqual([large])
    for (let count = 0; count < 6; count += 1) expect(queue.add(job(2, 1))).toEqual([])
    const seventh = job(2, 0)
    expect(queue.add(seventh)).toEqual([seventh])
    expect(queue).toMatchObject({ bytes: 66, length: 7 })
  })

  it('drops the last jobs of the user with most bytes when it has too many bytes', () => {
    const last = job(1, 20)
    const queue = queueOf(job(1, 35), last, job(2, 40))
    expect(queue.add(job(3, 10))).toEqual([last])
    expect(queue).toMatchObject({ bytes: 85, length: 3 })
  })

  it('drops the last job of the user with most jobs when it has too many jobs', () => {
    const many = Array.from({ length: 6 }, () => job(1, 1))
    const queue = queueOf(...many, job(2, 1), job(3, 30), job(4, 1), job(5, 1))
    expect(queue.add(job(6, 1))).toEqual([many.at(-1)])
    expect(queue.length).toBe(10)
  })

  it('removes a job only once', () => {
    const first = job(1, 5)
    const queue = queueOf(first, job(1, 7))
    queue.remove(first)
    queue.remove(first)
    expect(queue).toMatchObject({ bytes: 7, length: 1 })
    expect(queue.all()).toEqual([job(1, 7)])
  })
})
