import type { Logger } from 'pino'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import { appendJointly, createJointTurn } from './append-to-several-streams.ts'
import { type AnyDecider, type CachedStream, createCachedStream } from './cached-stream.ts'
import type { EventStore } from './port.ts'
import type { Snapshots } from './snapshots.ts'
import { createStreamActor, type StreamActor } from './stream-actor.ts'
import { type Outcome, RECENT_MS, type StreamActors } from './stream-actors-port.ts'

type Options = {
  readonly store: EventStore
  readonly snapshots: Snapshots
  readonly log: Logger
  readonly hotStreamsMax?: number
  readonly snapshotEvery?: number
}

export function createStreamActors(options: Options): StreamActors {
  const { store, snapshots, snapshotEvery = 4_000 } = options
  const { actorOf, cachedOf } = actorCache(options, (cached) => {
    cached.maybeSnapshot(snapshotEvery, (error) => {
      options.log.warn({ stream: cached.stream, error }, 'a snapshot could not be saved')
    })
  })
  const ask: StreamActors['ask'] = (decider, stream, question) =>
    new Promise((resolve, reject) => {
      const actor = actorOf(stream, decider as unknown as AnyDecider)
      const askedAt = performance.now()
      const read = async (): Promise<void> => {
        // Questions that wait at the same time share one read.
        if (actor.cached.confirmedAt() < askedAt) await actor.cached.catchUp()
        resolve(question(actor.cached.state() as Parameters<typeof question>[0]))
      }
      actor.turn({ take: () => read().catch(reject) })
    })
  // The state is copied, because the actor changes it in place.
  const stateOf: StreamActors['stateOf'] = (decider, stream) =>
    ask(decider, stream, (state) => structuredClone(state))
  return {
    ask,
    askRecent: (_, stream, question) => {
      const cached = cachedOf(stream)
      if (cached === null || performance.now() - cached.confirmedAt() > RECENT_MS) return null
      return question(cached.state() as Parameters<typeof question>[0])
    },
    handle: (decider, stream, command, context) =>
      new Promise((resolve, reject) => {
        const answer = resolve as (outcome: Outcome<Fact, CodedError>) => void
        actorOf(stream, decider as unknown as AnyDecider).command({
          command,
          context,
          resolve: answer,
          reject,
          isOver: false,
        })
      }),
    handleTogether: (steps, context) =>
      new Promise((resolve, reject) => {
        const actors = steps.map(({ stream, decider }) => actorOf(stream, decider))
        const distinct = new Set(actors)
        const joint = steps.map((step, index) => ({ cached: cachedStreamOf(actors, index), step }))
        const turn = createJointTurn(distinct.size, () =>
          appendJointly(joint, context, store).then(resolve, reject),
        )
        for (const actor of distinct) actor.turn(turn)
      }),
    stateOf,
    peek: async (decider, stream) => {
      if (cachedOf(stream) !== null) return stateOf(decider, stream)
      const cached = createCachedStream(stream, decider as unknown as AnyDecider, store, snapshots)
      await cached.catchUp()
      return cached.state() as ReturnType<typeof decider.initialState>
    },
  }
}

function cachedStreamOf(actors: readonly StreamActor[], index: number): CachedStream {
  const actor = actors[index]
  if (actor === undefined) throw new Error(`no actor for step ${index}`)
  return actor.cached
}

/**
 * Caches actors by stream. Above `hotStreamsMax`, the least recently used idle actors are dropped.
 */
function actorCache(options: Options, onWritten: (cached: CachedStream) => void) {
  const { store, snapshots, hotStreamsMax = 10_000 } = options
  const actors = new Map<string, StreamActor>()
  const shrink = (): void => {
    if (actors.size <= hotStreamsMax) return
    for (const [stream, actor] of actors) {
      if (actors.size <= hotStreamsMax) return
      if (actor.isIdle()) actors.delete(stream)
    }
  }
  const actorOf = (stream: string, decider: AnyDecider): StreamActor => {
    let actor = actors.get(stream)
    if (actor === undefined) {
      const cached = createCachedStream(stream, decider, store, snapshots)
      actor = createStreamActor(cached, { store, onWritten, onIdle: shrink })
    } else {
      if (actor.cached.decider !== decider) throw new Error(`two deciders for stream ${stream}`)
      actors.delete(stream)
    }
    actors.set(stream, actor)
    return actor
  }
  return { actorOf, cachedOf: (stream: string) => actors.get(stream)?.cached ?? null }
}
