/** A text in both languages of the console. */
export type TranslatedText = { readonly zh: string; readonly en: string }

type Texts = Readonly<Record<string, string>>

/** Returns the text of a key in both languages, or null if one language has no text for the key. */
export function translatedTextOf(
  zhTexts: Texts,
  enTexts: Texts,
  key: string,
): TranslatedText | null {
  const [zh, en] = [zhTexts[key], enTexts[key]]
  return zh === undefined || en === undefined ? null : { zh, en }
}
