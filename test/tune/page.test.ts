import t from 'tap';
import { htmlTable, pageOf } from '#acuity/tune/page.js';

t.test('a page loads nothing and runs nothing', async (t) => {
  const html = pageOf({
    title: 'A',
    subtitle: 'b',
    sections: [{ heading: 'H', note: 'n', html: '<p>x</p>' }],
  });
  t.notMatch(html, /https?:|<script|<link|<img|@import|url\(/);
  t.match(html, /default-src 'none'/);
  t.match(html, /prefers-color-scheme:dark/);
  t.match(html, /name="viewport"/);
});

t.test('what is text stays text', async (t) => {
  const html = pageOf({
    title: '<b>',
    subtitle: '"&',
    sections: [{ heading: '<i>', html: htmlTable([['<td>'], ['&']]) }],
  });
  t.notMatch(html, /<b>|<i>|<td><td>/);
  t.match(html, '<title>&#60;b&#62;</title>');
  t.match(html, '<td>&#38;</td>');
});
