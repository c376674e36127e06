import type { Client, Fact, Recorded, Sealed } from '#domain/shared/event.ts'
import { actNameOf } from '#read-api/contract/audit-act-names.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'

export type ObjectKind =
  | 'channel'
  | 'correction'
  | 'invoice'
  | 'job'
  | 'message'
  | 'option'
  | 'order'
  | 'price-change'
  | 'redemption'
  | 'site'
  | 'token'
  | 'user'

type Act = {
  readonly kind: ObjectKind
  readonly ids: readonly (string | number)[]
  readonly before?: object | null
  readonly after?: object
  /** The admin's reason, encrypted with the key of `noteUser`. */
  readonly note?: Sealed | undefined
  readonly noteUser?: number
  /**
   * The client that sent the request for the act. Undefined if the event's type has no field for
   * the client.
   */
  readonly client?: Client
}

/**
 * Returns an event handler that inserts a row into the table `acts` for each object of an act. An
 * act is an administrative or security-related action. `actOf` returns the act that an event
 * records.
 */
export const logAct =
  <E extends Fact>(actOf: (event: Recorded<E>) => Act) =>
  (event: Recorded<E>, rows: RowChanges): void => {
    const { kind, ids, before = null, after = {}, ...sealed } = actOf(event)
    const { note = null, noteUser = 0, client = clientOf(event) } = sealed
    const { position, meta } = event
    for (const id of ids) {
      rows.insert(
        'acts',
        { position, object_kind: kind, object_id: String(id) },
        {
          ...{ created_at: secondsOf(meta.at), act: actNameOf(event.type), actor: meta.actor },
          ...{
            before,
            after,
            note,
            note_user: noteUser,
            client_ip: client?.ip ?? null,
            client_user: client?.userId ?? 0,
            request_id: meta.cause,
          },
        },
      )
    }
  }

const clientOf = ({ data }: Recorded): Client | undefined =>
  (data as { readonly client?: Client }).client
