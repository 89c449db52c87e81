import * as cheerio from "cheerio";

export default function () {
  const $ = cheerio.load("<ul id=list><li class='a b'>Ä &amp; b</li><li>two<br></li></ul><p data-x='1'>x");
  $("li").eq(1).addClass("new").attr("title", 'say "hi"').append("<b>!</b>");
  return [
    $("li.a").text(), $("#list").html(), $("p").data("x"), $("li").map((_, element) => $(element).index()).get(), $("li:contains(two), p[data-x]").length,
    $.extract({ items: ["li"], title: "p" }), cheerio.load("<a><b/></a>", { xml: true }).xml(),
  ];
}
