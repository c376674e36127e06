/**
 * Reports whether a model is named like one of moderations, which are free without a price
 * (`moderationPriceOf`). The name is only a hint: requests at the endpoint for moderations decide.
 */
export const isNamedLikeModeration = (model: string): boolean => /moderation/i.test(model)
