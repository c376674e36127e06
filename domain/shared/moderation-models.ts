/**
 * Reports whether a model is named like one of moderations, which are free without a price
 * (`moderationPriceOf`). The name is only a hint: requests at the endpoint for moderations decide.
 */
export const isNamedLikeModeration = (model: string): boolean => /moderation/i.test(model)

/**
 * Reports whether a model is one that providers offer for moderations only, such as
 * `omni-moderation-latest`. Other models with similar names may answer chats, which need a price.
 */
export const isKnownModerationModel = (model: string): boolean =>
  /(?:^|\/)(?:omni|text|mistral)-moderation(?:-|$)/i.test(model)
