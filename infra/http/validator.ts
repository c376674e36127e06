import type { FastifyRouteSchemaDef } from 'fastify/types/schema.js'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { fieldFault } from './field-fault.ts'

type Checked = { value: unknown } | { error: Error }

/**
 * Checks without changing a type: what has the wrong one is refused. A body then holds the fields
 * of its schema alone, so that a field that a call doesn't take can't be applied by mistake.
 */
export function compileValidator({ schema, httpPart }: FastifyRouteSchemaDef<TSchema>) {
  const validator = Compile(schema)
  const names = httpPart === 'body' && 'properties' in schema ? namesOf(schema.properties) : null
  return (value: unknown): Checked => {
    if (!validator.Check(value)) {
      return { error: fieldFault(validator.Errors(value), httpPart ?? 'request', schema) }
    }
    return { value: names === null ? value : pick(value, names) }
  }
}

const namesOf = (properties: unknown): readonly string[] => Object.keys(properties as object)

function pick(value: unknown, names: readonly string[]): object {
  const given = value as Record<string, unknown>
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
  )
}
