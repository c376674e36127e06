import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { Projection } from '../projection.ts'
import type { ProjectionName } from '../projection-names.ts'
import { HASHES_WITH_COMMENTS } from './definition-hashes-of-earlier-releases.ts'

/** For each lane, the position up to which events are included. */
export type LanePositions = readonly number[]

export type Checkpoint = { readonly positions: LanePositions; readonly definition: string }

/**
 * Lines that contain only a comment. In the SQL files, no comment follows code on the same line.
 */
const COMMENT_LINES = /^[ \t]*--.*\n/gm

/**
 * Returns a hash of the version and of the SQL without its comments. A read model that was built
 * with another hash is rebuilt.
 */
export const definitionOf = ({ sql, version }: Projection): string => {
  const existing = definitions.get(sql)?.get(version)
  if (existing !== undefined) return existing
  const code = sql.replace(COMMENT_LINES, '')
  const definition = createHash('sha256').update(`${version}\n${code}`).digest('hex')
  definitions.set(sql, new Map(definitions.get(sql)).set(version, definition))
  return definition
}
const definitions = new Map<string, Map<number, string>>()

/** Replaces hashes that earlier releases stored (see `HASHES_WITH_COMMENTS`). */
export async function adoptEarlierHashes(
  pg: Pool,
  projections: readonly Projection[],
): Promise<void> {
  const replaced = projections.flatMap((projection) => {
    const definition = definitionOf(projection)
    const earlier = HASHES_WITH_COMMENTS.get(definition)
    return earlier === undefined ? [] : [{ name: projection.name, earlier, definition }]
  })
  await pg.query(
    `update projections.checkpoint c set definition = replaced.definition
       from unnest($1::text[], $2::text[], $3::text[]) as replaced (name, earlier, definition)
      where c.name = replaced.name and c.definition = replaced.earlier`,
    [
      replaced.map(({ name }) => name),
      replaced.map(({ earlier }) => earlier),
      replaced.map(({ definition }) => definition),
    ],
  )
}

/** Returns the position that a read model has reached in all lanes. */
export const lowestOf = (positions: LanePositions): number => Math.min(...positions)

export async function readCheckpoints(
  pg: Pool | PoolClient,
): Promise<Map<ProjectionName, Checkpoint>> {
  const { rows } = await pg.query<{
    name: ProjectionName
    lane: number
    position: string
    definition: string
  }>('select name, lane, position, definition from projections.checkpoint')
  const checkpoints = new Map<ProjectionName, { positions: number[]; definition: string }>()
  for (const { name, lane, position, definition } of rows) {
    const checkpoint = checkpoints.get(name) ?? { positions: ALL_LANES.map(() => 0), definition }
    checkpoint.positions[lane] = Number(position)
    checkpoints.set(name, checkpoint)
  }
  return checkpoints
}

/**
 * Sets the checkpoints of all lanes in the caller's transaction, which has also created the tables.
 * The new tables include only events of the store, even if the former tables were ahead of the
 * events.
 */
export async function writeCheckpoint(
  client: PoolClient,
  projection: Projection,
  positions: LanePositions,
): Promise<void> {
  await client.query(
    `insert into projections.checkpoint
     select $1, ordinality - 1, position, $3
     from unnest($2::bigint[]) with ordinality as v (position)
     on conflict (name, lane) do update
       set position = excluded.position, definition = excluded.definition`,
    [projection.name, positions, definitionOf(projection)],
  )
  await client.query('delete from projections.ahead_of_events where name = $1', [projection.name])
}

export type Move = {
  readonly projection: Projection
  readonly lane: number
  readonly from: number
  readonly to: number
}

/**
 * Moves checkpoints in the caller's transaction. Returns false if another process has moved a
 * checkpoint or rebuilt the read model. The caller must then roll back.
 */
export async function moveCheckpoints(
  client: PoolClient,
  moves: readonly Move[],
): Promise<boolean> {
  const moving = groupMoves(moves).map((group) => moveGroup(client, group))
  return (await Promise.all(moving)).every((isMoved) => isMoved)
}

async function moveGroup(client: PoolClient, group: MoveGroup): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'projection-move-checkpoints',
    text: `update projections.checkpoint c set position = $5
           from unnest($1::text[], $2::text[]) as v (name, definition)
           where c.name = v.name and c.definition = v.definition
             and c.lane = any($3::int2[]) and c.position = $4`,
    values: [
      group.projections.map(({ name }) => name),
      group.projections.map(definitionOf),
      ...[group.lanes, group.from, group.to],
    ],
  })
  return rowCount === group.projections.length * group.lanes.length
}

type MoveGroup = {
  readonly projections: readonly Projection[]
  readonly lanes: readonly number[]
  readonly from: number
  readonly to: number
}

/**
 * Groups moves with the same start, end and lanes. One statement then makes all moves of a group.
 */
function groupMoves(moves: readonly Move[]): MoveGroup[] {
  const groups = new Map<string, MoveGroup & { projections: Projection[] }>()
  for (const [projection, own] of Map.groupBy(moves, (move) => move.projection)) {
    for (const [ends, alike] of Map.groupBy(own, ({ from, to }) => `${from}-${to}`)) {
      const lanes = alike.map(({ lane }) => lane)
      const { from, to } = alike[0] as Move
      const existing = groups.get(`${ends} ${lanes}`)
      if (existing === undefined)
        groups.set(`${ends} ${lanes}`, { projections: [projection], lanes, from, to })
      else existing.projections.push(projection)
    }
  }
  return [...groups.values()]
}
