/**
 * Reports whether a model has a name like a moderation model. The name is only a hint, because the
 * endpoint of a request determines whether the request is a moderation (see `moderationPriceOf`).
 */
export const isNamedLikeModeration = (model: string): boolean => /moderation/i.test(model)

/**
 * Reports whether providers offer a model only for moderations, as they do
 * `omni-moderation-latest`. Other models with similar names may answer chats, and chats need a
 * price.
 */
export const isKnownModerationModel = (model: string): boolean =>
  /(?:^|\/)(?:omni|text|mistral)-moderation(?:-|$)/i.test(model)
