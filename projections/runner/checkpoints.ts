import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { Projection } from '../projection.ts'
import type { ProjectionName } from '../projection-names.ts'

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
    `update projections.definition c set definition = replaced.definition
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
 * Sets the checkpoints of all lanes in the caller's transaction, which also creates or replaces the
 * tables. Also removes the read model from `ahead_of_events`, because the new tables include only
 * events of the store.
 */
export async function writeCheckpoint(
  client: PoolClient,
  projection: Projection,
  positions: LanePositions,
): Promise<void> {
  const { name } = projection
  // The lock keeps ordinals without gaps. All writers of checkpoints lock this table first.
  await client.query('lock table projections.lane in share row exclusive mode')
  await client.query(
    `insert into projections.definition (name, ordinal, definition)
     select $1, coalesce(max(ordinal), 0) + 1, $2 from projections.definition
     on conflict (name) do update set definition = excluded.definition`,
    [name, definitionOf(projection)],
  )
  await client.query(
    `update projections.lane l set positions[d.ordinal] = ($2::bigint[])[l.lane + 1]
     from projections.definition d where d.name = $1`,
    [name, positions],
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
 * checkpoint or rebuilt the read model. In this case, the caller must roll back.
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
    text: `update projections.lane l set positions = (
             select array_agg(case when is_moving then $5 else position end order by ordinal)
             from unnest(l.positions, moving.flags) with ordinality
               as each (position, is_moving, ordinal)
           )
           from (
             select array_agg(v.name is not null order by d.ordinal) as flags,
               count(v.name) as count
             from projections.definition d
             left join unnest($1::text[], $2::text[]) as v (name, definition)
               using (name, definition)
           ) moving
           where l.lane = any($3::int2[]) and moving.count = cardinality($1::text[])
             and not exists (
               select from unnest(l.positions, moving.flags) as each (position, is_moving)
               where is_moving and position is distinct from $4
             )`,
    values: [
      group.projections.map(({ name }) => name),
      group.projections.map(definitionOf),
      ...[group.lanes, group.from, group.to],
    ],
  })
  return rowCount === group.lanes.length
}

type MoveGroup = {
  readonly projections: readonly Projection[]
  readonly lanes: readonly number[]
  readonly from: number
  readonly to: number
}

/** Groups moves with the same start, end and lanes. One statement makes all moves of a group. */
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

/**
 * Maps the present hash of a definition to its hash from earlier releases, in which SQL comments
 * were part of the hash. Both hashes identify the same tables and rows, so a read model with the
 * earlier hash is not rebuilt. An entry has no effect once the SQL or version changes.
 */
export const HASHES_WITH_COMMENTS: ReadonlyMap<string, string> = new Map([
  // The hashes of `users`.
  [
    'abbdf507ce83511a6353d36928a55a1929e292048930d28311f7f8b2e6130937',
    '13d05337c225880ea2e755dcc5570202917906d09e80c108f4ed01145f583478',
  ],
  // The hashes of `channels`.
  [
    'b4b791ac8d0334d79bd3e4e024f861ed8211ace5b50af6dfbca9f803e32c3988',
    '53230d2749d15fc934a9c6c81bd5fe0070558583f48656e111b72349bd623ef6',
  ],
  // The hashes of `channel-checks`.
  [
    'a20f56e4326eccf61c67150e4fe5ebd6c202405184fd1e176917aea88dc6241f',
    'e51191fdbe8e4aed9112c80868cab80d7570b9af92aee857a31c2aea6cb3fb32',
  ],
  // The hashes of `option-changes`.
  [
    '7ac2058f95da602f71950d28f830c7c50ec28baea2a8286980dcad6b489c7101',
    'db74cb1af447dcb4ac00468679f29a54f8eb73d18227e41cd53bf943c93c1e5a',
  ],
  // The hashes of `price-history`.
  [
    '73218e65f1773d6067dc2355d8cb1524e7a42b897e0b46833ed5b2fd4ca48b34',
    '47c6c04c9679e053aa455f3ac71abd6381034f8b3977e0fb496ededd259301c9',
  ],
  // The hashes of `price-schedule`.
  [
    '75b61baccfe666678ac4c82783ddb4a9d278d1ff66512c39195d1dceb70b37ca',
    '286486222c047e92945e4fb58be37c6ed915ffc0985275da8dc726683938c269',
  ],
  // The hashes of `balances`.
  [
    'af6f837049129e543022a7ffb04b15634dca727122243e4ef4747f4414ff393b',
    'c8c845111bd4e83dae7eda01c2680e9fef0d06623a26ba858a266f2f590d4fa1',
  ],
  // The hashes of `messages`.
  [
    '7d34fbed05bb60d19e92ff8f0056c80e9ea2276ffc08d1bc06ad7f4c6d05ef88',
    '94bcbb02867ced3dc2f65c1cc8936747b24bda5e5dd8f3a98e8369d3125503dd',
  ],
  // The hashes of `orders`.
  [
    'd639048bade39ef48f9c5db5b44458cd3f714856ca97b272a93dad384c13f54c',
    '41320058e3cd4f7c7a34571e4cfac88d6caee4f67535a19bb94676e872935c53',
  ],
  // The hashes of `tasks`.
  [
    '9f1127beb32f6a6d20983a294fd3c12c1674ceaf943aba5274f653184d6c96e4',
    '98a234e945aea05f58cfb20cf1af75965b62bb9412c2d1b8fb233e9ba8d4c722',
  ],
])
