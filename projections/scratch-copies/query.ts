import { PROJECTION_NAMES, type ProjectionName, schemaOf } from '../projection-names.ts'

/**
 * Messages and notification settings are not copied: nobody looks at them in a copy, and what a
 * user deleted there must not be kept elsewhere.
 */
const NOT_COPIED: readonly ProjectionName[] = ['messages', 'notifications']

/** The read models of which a scratch copy consists. */
export const SCRATCH_READ_MODELS: readonly ProjectionName[] = PROJECTION_NAMES.filter(
  (name) => !NOT_COPIED.includes(name),
)

const PREFIX = 'scratch_'
const DIGITS = 32

/** Returns the beginning of the names of a copy's schemas. `copyId` is a UUID. */
export const scratchPrefixOf = (copyId: string): string =>
  `${PREFIX}${copyId.toLowerCase().replaceAll('-', '')}_`

/** Returns the Postgres schema of one read model of a copy. */
export const scratchSchemaOf = (copyId: string, name: ProjectionName): string =>
  scratchPrefixOf(copyId) + name.replaceAll('-', '_')

/** Matches the names of the schemas of all copies. The group is the id of the copy, in digits. */
export const SCRATCH_SCHEMA = new RegExp(`^${PREFIX}([0-9a-f]{${DIGITS}})_[a-z_]+$`)

const LIVE_SCHEMA = new RegExp(`\\b(?:${PROJECTION_NAMES.map(schemaOf).join('|')})(?=\\.)`, 'g')

/**
 * Returns a function that makes a statement read the tables of a copy instead of the live ones. All
 * statements name the schemas of read models, and have values as parameters only.
 */
export const rewriteForCopy = (copyId: string): ((statement: string) => string) => {
  const prefix = scratchPrefixOf(copyId)
  return (statement) =>
    statement.replaceAll(LIVE_SCHEMA, (schema) => prefix + schema.slice('read_'.length))
}
