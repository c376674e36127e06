import type { FastifySchema } from 'fastify'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * Returns the method, path and schema of a route that a contract describes under `METHOD /path`.
 * The console calls it by the same entry, so that server and console cannot differ.
 */
export function endpoint<
  Routes extends Readonly<Record<string, FastifySchema>>,
  Name extends keyof Routes & `${Method} /${string}`,
>(routes: Routes, name: Name) {
  const [method, url] = name.split(' ') as [Method, string]
  return { method, url, schema: routes[name] }
}
