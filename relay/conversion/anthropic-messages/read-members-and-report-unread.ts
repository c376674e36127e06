import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import { ConversionError } from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'

/**
 * Reads the members of one object of a request. Throws a `ConversionError` with a member's path if
 * the member has the wrong type. `reportUnread` reports as lost all members that were not read, so
 * that no member is dropped silently. A null member counts as absent.
 */
export class RequestObject {
  private readonly members: JsonObject
  private readonly path: string
  private readonly losses: string[]
  private readonly seen = new Set<string>()

  constructor(value: unknown, path: string, losses: string[]) {
    if (!isObject(value)) throw new ConversionError(path, 'This member must be an object.')
    this.members = value
    this.path = path
    this.losses = losses
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  any(name: string): unknown {
    this.seen.add(name)
    return Object.hasOwn(this.members, name) ? (this.members[name] ?? null) : null
  }

  text(name: string): string | null {
    const value = this.any(name)
    if (value === null || typeof value === 'string') return value
    throw new ConversionError(this.pathOf(name), 'This member must be a string.')
  }

  requiredText(name: string): string {
    return this.required(name, this.text(name))
  }

  number(name: string): number | null {
    const value = this.any(name)
    if (value === null || (typeof value === 'number' && Number.isFinite(value))) return value
    throw new ConversionError(this.pathOf(name), 'This member must be a number.')
  }

  count(name: string): number | null {
    const value = this.number(name)
    if (value === null || (Number.isSafeInteger(value) && value >= 0)) return value
    throw new ConversionError(this.pathOf(name), 'This member must be an integer of 0 or more.')
  }

  flag(name: string): boolean | null {
    const value = this.any(name)
    if (value === null || typeof value === 'boolean') return value
    throw new ConversionError(this.pathOf(name), 'This member must be true or false.')
  }

  list(name: string): readonly unknown[] | null {
    const value = this.any(name)
    if (value === null || Array.isArray(value)) return value
    throw new ConversionError(this.pathOf(name), 'This member must be an array.')
  }

  object(name: string): RequestObject | null {
    const value = this.any(name)
    return value === null ? null : new RequestObject(value, this.pathOf(name), this.losses)
  }

  /** Returns an object member, such as a JSON schema, unchanged. */
  json(name: string): JsonObject | null {
    const value = this.any(name)
    if (value === null || isObject(value)) return value
    throw new ConversionError(this.pathOf(name), 'This member must be an object.')
  }

  required<Value>(name: string, value: Value | null): Value {
    if (value !== null) return value
    throw new ConversionError(this.pathOf(name), 'This member is required.')
  }

  lose(name: string): void {
    addLoss(this.losses, this.pathOf(name))
  }

  /** Reports the whole object as lost. */
  loseAll(): void {
    addLoss(this.losses, this.path)
  }

  reportUnread(): void {
    for (const [name, value] of Object.entries(this.members)) {
      if (value !== null && value !== undefined && !this.seen.has(name)) this.lose(name)
    }
  }
}
