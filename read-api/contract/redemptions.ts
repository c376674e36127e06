import Type, { type Static } from 'typebox'

export const Redemption = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** The key itself, in an admin's session; empty for an access token. */
  key: Type.String(),
  /** Its last four characters; empty of a short key. */
  key_hint: Type.String(),
  /** What each use gives. */
  quota: Type.Integer(),
  /** 1 unused, 2 disabled, 3 used. A gift stays unused, however many had it. */
  status: Type.Integer(),
  /** Unix seconds, as all times. */
  created_time: Type.Integer(),
  /** Who had it last; 0 nobody. */
  used_user_id: Type.Integer(),
  used_username: Type.String(),
  /** When that was; 0 never. */
  redeemed_time: Type.Integer(),
  is_gift: Type.Boolean(),
  /** -1: no limit; 1 of what is no gift. */
  max_uses: Type.Integer(),
  used_count: Type.Integer(),
  /** 0: at once. */
  valid_from: Type.Integer(),
  /** 0: for ever. */
  valid_until: Type.Integer(),
})
export type Redemption = Static<typeof Redemption>
