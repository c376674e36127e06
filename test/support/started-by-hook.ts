import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

type Closable = { close(): unknown }
type Start<Value> = () => Promise<Value>

/** Starts a value before the first test of a file, and closes it after the last test. */
export function startedOnce<Value extends Closable>(start: Start<Value>): Value {
  return started(start, beforeAll, afterAll)
}

/** Starts a value before each test, and closes it after the test. */
export function startedForEach<Value extends Closable>(start: Start<Value>): Value {
  return started(start, beforeEach, afterEach)
}

/**
 * Returns a proxy of the value that a hook creates, so that a test file can use a constant. Methods
 * are bound to the value, because private fields are not accessible through a proxy.
 */
function started<Value extends Closable>(
  start: Start<Value>,
  before: typeof beforeAll | typeof beforeEach,
  after: typeof afterAll | typeof afterEach,
): Value {
  let current: Value | undefined
  const value = (): Value => {
    if (current === undefined) throw new Error('it is started by a hook, and no hook has run yet')
    return current
  }
  before(async () => {
    current = await start()
  }, HOOK_MS)
  after(async () => {
    await current?.close()
    current = undefined
  }, HOOK_MS)
  return new Proxy({} as Value, {
    get: (_, name) => {
      const member = Reflect.get(value(), name)
      const isMethodOfClass = typeof member === 'function' && !Object.hasOwn(value(), name)
      return isMethodOfClass ? member.bind(value()) : member
    },
    set: (_, name, member) => Reflect.set(value(), name, member),
    ownKeys: () => Reflect.ownKeys(value()),
    getOwnPropertyDescriptor: (_, name) => {
      const descriptor = Object.getOwnPropertyDescriptor(value(), name)
      return descriptor && { ...descriptor, configurable: true }
    },
  })
}

const HOOK_MS = 120_000
