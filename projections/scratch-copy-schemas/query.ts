import { PROJECTION_NAMES, type ProjectionName, schemaOf } from '../projection-names.ts'

/**
 * The read models that are not copied. Nobody reads messages or notification settings in a copy,
 * and a copy must not keep what a user has deleted.
 */
const NOT_COPIED: readonly ProjectionName[] = ['messages', 'notifications']

/** The read models that a scratch copy contains. */
export const SCRATCH_READ_MODELS: readonly ProjectionName[] = PROJECTION_NAMES.filter(
  (name) => !NOT_COPIED.includes(name),
)

const PREFIX = 'scratch_'
const DIGITS = 32

/** Returns the prefix of the schema names of a copy. `copyId` is a UUID. */
export const scratchPrefixOf = (copyId: string): string =>
  `${PREFIX}${copyId.toLowerCase().replaceAll('-', '')}_`

/** Returns the Postgres schema of one read model of a copy. */
export const scratchSchemaOf = (copyId: string, name: ProjectionName): string =>
  scratchPrefixOf(copyId) + name.replaceAll('-', '_')

/**
 * Matches the schema names of all copies. The capture group contains the hexadecimal digits of the
 * copy's id.
 */
export const SCRATCH_SCHEMA = new RegExp(`^${PREFIX}([0-9a-f]{${DIGITS}})_[a-z_]+$`)

const LIVE_SCHEMA = new RegExp(`\\b(?:${PROJECTION_NAMES.map(schemaOf).join('|')})(?=\\.)`, 'g')

/**
 * Returns a function that rewrites a statement to read the tables of a copy instead of the live
 * tables. This works because all statements name the schemas of read models, and pass values only
 * as parameters.
 */
export const rewriteForCopy = (copyId: string): ((statement: string) => string) => {
  const prefix = scratchPrefixOf(copyId)
  return (statement) =>
    statement.replaceAll(LIVE_SCHEMA, (schema) => prefix + schema.slice('read_'.length))
}
