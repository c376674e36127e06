import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { ProjectionName } from '../names.ts'
import type { Projection } from '../projection.ts'

export type Checkpoint = { readonly position: number; readonly definition: string }

/** Names the shape and meaning of a read model; another one asks for a rebuild. */
export const definitionOf = ({ sql, version }: Projection): string =>
  createHash('sha256').update(`${version}\n${sql}`).digest('hex')

export async function readCheckpoints(
  pg: Pool | PoolClient,
): Promise<Map<ProjectionName, Checkpoint>> {
  const { rows } = await pg.query<{ name: ProjectionName; position: string; definition: string }>(
    'select name, position, definition from projections.checkpoint',
  )
  return new Map(
    rows.map(({ name, position, definition }) => [
      name,
      { position: Number(position), definition },
    ]),
  )
}

/**
 * Compare-and-set of several checkpoints at once, inside the caller's transaction; false when
 * another process has moved one of them, and then the caller rolls back.
 */
export async function moveCheckpoints(
  client: PoolClient,
  from: ReadonlyMap<ProjectionName, number>,
  to: number,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'projection-move-checkpoints',
    text: `update projections.checkpoint c set position = $3
           from unnest($1::text[], $2::bigint[]) as v (name, position)
           where c.name = v.name and c.position = v.position`,
    values: [[...from.keys()], [...from.values()], to],
  })
  return rowCount === from.size
}
