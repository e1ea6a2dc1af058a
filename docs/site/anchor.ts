// Anchors of headings in Markdown, as GitHub makes them: the same links work there and on the site.

/** The anchor of a heading, from its text with or without marks. A repeated one gets a number from the caller. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
