/** Buttons of a drawing by what their ids hold, the more particular first. */
const BUTTONS: readonly (readonly [RegExp, string])[] = [
  [/^MJ::JOB::upsample/i, 'UPSCALE'],
  [/^MJ::JOB::low_variation/i, 'LOW_VARIATION'],
  [/^MJ::JOB::high_variation/i, 'HIGH_VARIATION'],
  [/^MJ::JOB::variation/i, 'VARIATION'],
  [/^MJ::JOB::reroll/i, 'REROLL'],
  [/^MJ::JOB::pan_/i, 'PAN'],
  [/^MJ::CustomZoom::/i, 'CUSTOM_ZOOM'],
  [/^MJ::Outpaint::/i, 'ZOOM'],
  [/^MJ::Inpaint::/i, 'INPAINT'],
]

/** What pressing it asks for; null: nothing that has a price. */
export const actionOfButton = (customId: string): string | null =>
  BUTTONS.find(([pattern]) => pattern.test(customId))?.[1] ?? null
