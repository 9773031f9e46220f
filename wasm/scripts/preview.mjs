// The picture that links to the page show, `page/preview.png`: what the built page in
// `target/page` looks like at its top. `node scripts/preview.mjs`, after `cargo xtask page`.

import { fileURLToPath } from 'node:url';
import { launch, until } from '../tests/chromium.mjs';
import { serve } from '../tests/server.mjs';

const SIZE = { width: 1200, height: 630 };

/** The part of the page that fits: the drawing, its bars, and what the model is. */
const STYLE = `
  body { max-width: none; padding: 28px 44px; font-size: 22px; overflow: hidden; }
  header { margin-bottom: 14px; }
  h1 { font-size: 44px; }
  .panel { margin-bottom: 18px; border: 0; padding: 0; background: none; }
  #draw-title, .controls, #pad-help, .figures, #likeness, .panel:last-child { display: none; }
  .draw { grid-template-columns: 250px 1fr; gap: 40px; }
  .answer { min-height: 0; margin: 0; }
  .answer b { font-size: 40px; line-height: 1; }
  .bars { gap: 0; font-size: 15px; line-height: 20px; }
  .bars .track { height: 11px; }
  .bars .share { font-size: 15px; }
  #proof-title { margin: 0 0 10px; font-size: 34px; }
  .proof ~ *, .proof > div, figcaption { display: none !important; }
  .proof { display: block; }
  #cells { width: 540px; }`;

const server = await serve({ '/': fileURLToPath(new URL('../../target/page', import.meta.url)) });
const browser = await launch();
const page = await browser.newPage({ viewport: SIZE, reducedMotion: 'reduce', bypassCSP: true });
await page.goto(server.origin);
await until(page, () => document.querySelector('#answer b'));
await page.addStyleTag({ content: STYLE });
await page.screenshot({ path: fileURLToPath(new URL('../page/preview.png', import.meta.url)) });
await browser.close();
await server.close();
