import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'
import type { FastifyRouteSchemaDef } from 'fastify/types/schema.js'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { schemaError } from './schema-error.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Compiles the schemas that no request has needed yet. Throws if a schema cannot be compiled.
     * Tests call this function, because the error would otherwise appear only at the first request
     * of a route.
     */
    readonly compileSchemas: () => void
  }
}

/**
 * Compiles the schema of a request or response when it is first needed. Compiling all schemas would
 * take nearly half of the CPU time of a start, and a process needs few of them at first.
 */
export function compileSchemasOnDemand(app: FastifyInstance): void {
  const compiling = new Set<() => unknown>()
  const onDemand =
    <Definition, Input, Output>(compile: (definition: Definition) => (input: Input) => Output) =>
    (definition: Definition): ((input: Input) => Output) => {
      let compiled: ((input: Input) => Output) | null = null
      const compileOnce = () => {
        compiled ??= compile(definition)
        compiling.delete(compileOnce)
        return compiled
      }
      compiling.add(compileOnce)
      return (input) => (compiled ?? compileOnce())(input)
    }
  app.setValidatorCompiler(onDemand(compileValidator))
  app.setSerializerCompiler(onDemand(compileSerializer))
  app.decorate('compileSchemas', () => {
    for (const compileOnce of compiling) compileOnce()
  })
}

const serializerOf = SerializerSelector()()

/** Compiles a serializer as Fastify does by default. */
const compileSerializer = ({
  httpStatus = '',
  ...route
}: FastifyRouteSchemaDef<unknown>): ((value: unknown) => string) =>
  serializerOf({ ...route, httpStatus })

type Checked = { value: unknown } | { error: Error }

/**
 * Compiles a validator that converts no types and removes unknown fields of a body, so that an
 * unknown field can't be applied by mistake.
 */
function compileValidator({ schema, httpPart }: FastifyRouteSchemaDef<TSchema>) {
  const validator = Compile(schema)
  const names = httpPart === 'body' && 'properties' in schema ? namesOf(schema.properties) : null
  return (value: unknown): Checked => {
    if (!validator.Check(value)) {
      return { error: schemaError(validator.Errors(value), httpPart ?? 'request', schema) }
    }
    return { value: names === null ? value : pick(value, names) }
  }
}

const namesOf = (properties: unknown): readonly string[] => Object.keys(properties as object)

function pick(value: unknown, names: readonly string[]): object {
  const source = value as Record<string, unknown>
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(source, name)).map((name) => [name, source[name]]),
  )
}
