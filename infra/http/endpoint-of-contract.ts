import type { FastifySchema } from 'fastify'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * Returns the method, path and schema of a route from its contract entry, which has the name
 * `METHOD /path`. The console uses the same entry, so that server and console can't differ.
 */
export function endpoint<
  Routes extends Readonly<Record<string, FastifySchema>>,
  Name extends keyof Routes & `${Method} /${string}`,
>(routes: Routes, name: Name) {
  const [method, url] = name.split(' ') as [Method, string]
  return { method, url, schema: routes[name] }
}
